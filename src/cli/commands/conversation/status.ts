import { pausesIn } from '../../../memory/conversation/pause.ts'
import { defineCommand } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { minuteOf } from '../../describe-belief.ts'
import { lastHook } from '../../hooks/hook-log.ts'
import { failedNames, queuedNames, queueIn } from '../../hooks/hook-queue.ts'
import { harmless } from '../../output.ts'
import { columns, counted } from '../../text-layout.ts'
import { pauseText } from './pause.ts'

export const status = defineCommand({
  args: {},
  options: placeOptions,
  description:
    'Shows where the memory is, how much it holds, what waits for you, whether keeping is paused, and the last hook.',
  examples: [
    { command: 'credence status', effect: 'Shows the state of your memory.' },
    { command: 'credence status --json', effect: 'Prints the same as one JSON document.' },
  ],
  async run({ options }, session) {
    const { dir, user, scopes, hooksEnabled } = session.place(options)
    const exists = await session.hasMemory(options)
    const memory = await session.reading(options)
    const only = { limit: 1 }
    const counts = {
      beliefs: (await memory.list({ current: true, ...only })).total,
      turns: (await memory.turns(only)).total,
      conversations: (await memory.conversations(only)).total,
      candidates: (await memory.candidates()).length,
      proposals: (await memory.proposals()).length,
    }
    const pauses = pausesIn(dir, new Date())
    const hook = lastHook(dir)
    const queue = { waiting: queuedNames(dir).length, failed: failedNames(dir).length }
    const { beliefs, turns, conversations, candidates, proposals } = counts
    return {
      document: { dir, exists, user, scopes, ...counts, pauses, hooksEnabled, lastHook: hook, queue },
      text: (style) =>
        columns(
          [
            ['memory', harmless(dir)],
            ['user', harmless(user)],
            ['scopes', harmless(scopes.join(' '))],
            [
              'holds',
              `${counted(beliefs, 'belief')}, ${counted(turns, 'turn')}, ${counted(conversations, 'conversation')}`,
            ],
            ['to review', `${counted(candidates, 'candidate')}, ${counted(proposals, 'proposal')}`],
            ['keeping', keepingText(pauses.map(pauseText), hooksEnabled)],
            [
              'last hook',
              hook === null
                ? 'none yet'
                : harmless(`${minuteOf(hook.at)} UTC, ${hook.host} ${hook.event}: ${hook.outcome}`),
            ],
            ...(queue.waiting === 0 ? [] : [['queue', `${counted(queue.waiting, 'message')} not heard yet`]]),
            ...(queue.failed === 0
              ? []
              : [
                  [
                    'set aside',
                    `${counted(queue.failed, 'message')} that could not be heard, in ${harmless(queueIn(dir))}/failed`,
                  ],
                ]),
          ],
          { indent: 0, width: style.width },
        ),
      notes: candidates + proposals === 0 ? [] : ['Review with `credence proposals`.'],
    }
  },
})

const keepingText = (pauses: readonly string[], hooksEnabled: boolean): string =>
  [
    ...(hooksEnabled ? [] : ['hooks are switched off here by .credence.json']),
    ...pauses.map((pause) => `paused ${pause}`),
  ].join('; ') || 'hooks keep what is said'
