import { endPause, pausesIn } from '../../../memory/conversation/pause.ts'
import { defineCommand } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { harmless } from '../../output.ts'
import { pausedDirectory, pausePlaceOptions, pauseText } from './pause.ts'

export const resume = defineCommand({
  args: {},
  options: { ...pausePlaceOptions, ...placeOptions },
  description: 'Without --in and --here it ends the pause that holds everywhere.',
  examples: [
    { command: 'credence resume', effect: 'Lets hooks keep what is said again.' },
    { command: 'credence resume --in ~/clients/secret', effect: 'Ends the pause of one directory.' },
  ],
  async run({ options }, session) {
    const directory = pausedDirectory(options, session)
    const { dir } = (directory === null ? session : session.inDirectory(directory)).place(options)
    const now = new Date()
    const wasPaused = await endPause(dir, directory, now)
    const left = pausesIn(dir, now)
    const where = directory === null ? '' : ` in ${harmless(directory)}`
    return {
      document: { resumed: wasPaused, directory, pauses: left, dir },
      text: (style) =>
        wasPaused ? `${style.green('Resumed')}${where}. Hooks keep what is said.` : `There was no pause${where}.`,
      notes: left.map((pause) => `Still paused ${pauseText(pause)}.`),
    }
  },
})
