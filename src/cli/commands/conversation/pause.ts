import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { invalid } from '../../../errors.ts'
import { realPath } from '../../../files/own-files.ts'
import { localMinute } from '../../../local-time.ts'
import { beginPause, endPause, isWithin, type Pause, pauseFor, pausesIn } from '../../../memory/conversation/pause.ts'
import { type CommandAnswer, defineCommand, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, option, text } from '../../command/options.ts'
import type { Session } from '../../session.ts'

export const pausePlaceOptions = {
  in: text('<directory>', 'Only for this directory and everything below it.'),
  here: flag('Only for the working directory and everything below it.'),
}

export const pause = defineCommand({
  args: {},
  options: {
    for: option('<duration>', 'How long, such as 30m, 2h, 3d or 1w.', readDuration, 'until resumed'),
    off: flag('End the pause: hooks store messages again. `credence resume` is the same.'),
    ...pausePlaceOptions,
    ...memoryOptions,
  },
  description:
    'Hooks then store no prompts and learn nothing. Recall continues, and `credence hear` and `credence remember` still store what you give them. `credence resume` ends the pause for all directories, or the one of --in or --here.',
  examples: {
    'credence pause --for 2h': 'Hooks store no messages for two hours.',
    'credence pause --here': 'Hooks store no messages of this directory, until resumed.',
    'credence resume': 'Lets hooks store messages again.',
    'credence resume --in ~/clients/secret': 'Ends the pause of one directory.',
  },
  async run({ options }, session) {
    const directory = pausedDirectory(options, session)
    const { places } = directory === null ? session : session.places.inDirectory(directory)
    const { dir } = places.locate(options)
    await places.hasMemory(options)
    if (options.off && options.for !== undefined)
      throw new UsageError('--for and --off exclude each other.', 'Give one of them.')
    if (options.off) return resumeHooks(dir, directory)
    if (directory !== null && existsSync(directory) && !statSync(directory).isDirectory())
      throw invalid(`${directory} is not a directory.`, 'Give a directory with --in.')
    const now = new Date()
    const until = options.for === undefined ? null : new Date(now.getTime() + options.for).toISOString()
    const { queueAwaited } = await import('../../hooks/hook-queue.ts')
    // Answers that are given during the pause are not stored, even if their prompts were.
    queueAwaited(dir, (turn) => directory === null || isWithin(turn.directory ?? '', directory), true)
    await beginPause(dir, { directory, until }, now)
    return {
      document: { paused: true, directory, until, dir },
      text: (style) =>
        `${style.yellow('Paused')} ${pauseText({ directory, until })}. Hooks store and learn nothing; recall continues.`,
      notes: [`\`${resumeCommand({ directory })}\` ends the pause.`],
    }
  },
})

async function resumeHooks(dir: string, directory: string | null): Promise<CommandAnswer> {
  const now = new Date()
  const wasPaused = await endPause(dir, directory, now)
  const left = pausesIn(dir, now)
  const where = directory === null ? '' : ` in ${directory}`
  return {
    document: { resumed: wasPaused, directory, pauses: left, dir },
    text: (style) =>
      wasPaused
        ? `${style.green('Resumed')}${where}. Hooks store messages again.`
        : directory === null && left.length > 0
          ? 'There was no pause for all directories.'
          : `There was no pause${where}.`,
    notes: left.map((pause) => `Still paused ${pauseText(pause)}; \`${resumeCommand(pause)}\` ends it.`),
  }
}

/** The directory given by `--in` or `--here`; null for everywhere. */
export function pausedDirectory(
  { in: given, here }: { readonly in: string | undefined; readonly here: boolean },
  session: Session,
): string | null {
  if (given !== undefined && here) throw new UsageError('--in and --here exclude each other.', 'Give one of them.')
  if (given === undefined && !here) return null
  return realPath(resolve(session.places.workingDirectory(), given ?? '.'))
}

const resumeCommand = ({ directory }: Pick<Pause, 'directory'>): string =>
  directory === null ? 'credence resume' : `credence resume --in ${directory}`

/** `in /home/ada/clients until 2026-05-03 10:00`. */
export const pauseText = ({ directory, until }: Pause): string =>
  [
    directory === null ? 'everywhere' : `in ${directory}`,
    until === null ? 'until resumed' : `until ${localMinute(until)}`,
  ].join(' ')

/** Notes for a person who stores something by hand while hooks are paused. */
export function pausedNotes(dir: string, session: Session): readonly string[] {
  const paused = pauseFor(dir, session.places.workingDirectory(), new Date())
  return paused === null ? [] : [`Hooks are paused ${pauseText(paused)}; this was stored anyway.`]
}

const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const maxPauseMs = 3_650 * 86_400_000

function readDuration(given: string): number {
  const [, number, unit = ''] = /^(\d+)([mhdw])$/.exec(given.trim()) ?? []
  const duration = Number(number) * (unitsMs[unit] ?? Number.NaN)
  if (duration > 0 && duration <= maxPauseMs) return duration
  throw new UsageError(
    `"${given}" is not a duration.`,
    'Write a number and m, h, d or w, such as 30m or 2h; at most ten years.',
  )
}
