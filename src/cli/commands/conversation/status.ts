import { compareStrings } from '../../../beliefs/identity.ts'
import { localMinute } from '../../../local-time.ts'
import { pausesIn } from '../../../memory/conversation/pause.ts'
import type { MeaningStatus } from '../../../memory/memory.ts'
import { logTooLong } from '../../../store/sqlite/connection.ts'
import { maxLogBytes } from '../../../store/sqlite/database.ts'
import { sizeOf } from '../../../store/sqlite/store-file.ts'
import { defineCommand } from '../../command/command.ts'
import { memoryOptions } from '../../command/options.ts'
import { hookHealthText, lastSeen } from '../../connect/seen.ts'
import { importText, lastImport } from '../../histories.ts'
import { failedNames, queuedNames, queueIn } from '../../hooks/hook-queue.ts'
import { hookHosts } from '../../hooks/host-protocol.ts'
import { pluralize } from '../../text/output.ts'
import { listTeams } from '../people/people.ts'
import { pauseText } from './pause.ts'

export const status = defineCommand({
  args: {},
  options: memoryOptions,
  description:
    'Also shows the decisions that wait for you, and of each agent the last prompt, the last lines it was given, how many prompts were answered too late, and the last failure.',
  examples: {
    'credence status': 'Shows the state of your memory.',
  },
  async run({ options }, session) {
    const { dir, store, user, scopes, hooksEnabled } = session.places.locate(options)
    const exists = await session.places.hasMemory(options)
    const memory = await session.memories.reporting(options)
    const teams = await listTeams(session, options)
    const only = { limit: 1 }
    const counts = {
      beliefs: (await memory.list({ current: true, ...only })).total,
      turns: (await memory.turns(only)).total,
      conversations: (await memory.conversations(only)).total,
      candidates: (await memory.candidates()).length,
      proposals: (await memory.proposals()).length,
    }
    const meaning = await memory.meaningStatus()
    const pauses = pausesIn(dir, new Date())
    const file = await session.places.storeFile(dir)
    const logSize = sizeOf(`${file}-wal`)
    const queue = { waiting: queuedNames(dir).length, failed: failedNames(dir).length }
    const { beliefs, turns, conversations, candidates, proposals } = counts
    const { machine } = session.program
    const agents = hookHosts.flatMap((host) => {
      const seen = lastSeen(machine, host, 'hook')
      return seen === null || seen.prompts === undefined ? [] : [{ host, ...seen }]
    })
    const hook = agents.toSorted((a, b) => compareStrings(a.at, b.at)).at(-1) ?? null
    const last =
      hook === null
        ? 'none yet; `credence connect` connects an agent'
        : `${localMinute(hook.at)}, ${hook.host} ${hook.event}: ${hook.outcome}`
    const unheard = `${pluralize(queue.failed, 'message')} that could not be stored, in ${queueIn(dir)}/failed`
    const place = { dir, store: file, user, scopes }
    const shown = {
      memory: dir,
      store: store !== undefined && file,
      user,
      scopes: scopes.join(' '),
      teams: teams.map(({ team, role }) => `${team} (${role})`).join(', '),
      holds: `${pluralize(beliefs, 'belief')}, ${pluralize(turns, 'turn')}, ${pluralize(conversations, 'conversation')}`,
      meaning: exists && meaningText(meaning),
      'to review': `${pluralize(candidates, 'candidate')}, ${pluralize(proposals, 'proposal')}`,
      hooks: keepingText(pauses.map(pauseText), hooksEnabled),
      'last hook': last,
      ...Object.fromEntries(agents.map((agent) => [agent.host, hookHealthText(agent)])),
      queue: queue.waiting > 0 && `${pluralize(queue.waiting, 'message')} not stored yet`,
      'set aside': queue.failed > 0 && unheard,
      import: await importText(dir),
    }
    return {
      document: {
        ...place,
        exists,
        teams,
        ...counts,
        meaning,
        pauses,
        hooksEnabled,
        lastHook: hook,
        agents,
        queue,
        import: lastImport(dir),
        logSize,
      },
      shown,
      notes: [
        ...(logSize > maxLogBytes ? [logTooLong(file, logSize)] : []),
        ...(candidates + proposals === 0 ? [] : ['Review with `credence review`.']),
        ...(await session.places.formerProjectNotes(options, memory)),
      ],
    }
  },
})

/** Only a running server computes vectors by itself. */
const meaningText = ({ model, indexed, waiting }: MeaningStatus): string => {
  if (model === null) return 'words alone (the setting semantic is off)'
  const rest = waiting === 0 ? '' : `; ${waiting} to index, by a running server or \`credence vectors\``
  return `${model}, ${pluralize(indexed, 'vector')}${rest}`
}

const keepingText = (pauses: readonly string[], hooksEnabled: boolean): string =>
  [...(hooksEnabled ? [] : ['switched off here by .credence.json']), ...pauses.map((pause) => `paused ${pause}`)].join(
    '; ',
  ) || 'store messages'
