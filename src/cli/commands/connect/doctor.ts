import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreFinding } from '../../../beliefs/store-care.ts'
import { conflict, MemoryError } from '../../../errors.ts'
import { examineFiles, shellWord } from '../../../files/own-files.ts'
import { acceptLoss, examine, finishForgetting, rebuild } from '../../../memory/explain/doctor.ts'
import { type MirrorStatus, mirrorStatus } from '../../../memory/mirror/status.ts'
import type { Store } from '../../../memory/ports.ts'
import { listMirrorProblems, listWaitingWork } from '../../../operations/mirror-report.ts'
import { setAsideCorruptStore } from '../../../store/sqlite/store-file.ts'
import { defineCommand, exitCodes, type ValuesOf } from '../../command/command.ts'
import { flag, memoryOptions } from '../../command/options.ts'
import { failedNames, queuedNames, queueIn } from '../../hooks/hook-queue.ts'
import type { MemoryLocation, OpenedPorts, Session } from '../../session.ts'
import { listShort, pluralize, type Style, table } from '../../text/output.ts'

const maintenance = {
  rebuild: flag('First rebuild everything from the journal, and remove remains of forgotten texts.'),
  acceptLoss: flag('Accept the journal although events are missing at its end.'),
  setAside: flag('Rename a damaged store, so that a new one is created; nothing is deleted.'),
}

export const doctor = defineCommand({
  args: {},
  options: { ...maintenance, ...memoryOptions },
  description:
    'Checks the owner and the permissions of the directory and its files, the journal, every belief, every index and MEMORY.md. Without --rebuild, --accept-loss or --set-aside it only reads, unless a forget has left text in unused parts of the file, which it removes. The journal is compared with its last known event in state/credence.db-head: events missing at its end are reported until you restore a backup or give --accept-loss.',
  exitCodes: [exitCodes.degraded],
  examples: {
    'credence doctor': 'Shows the result of every check.',
    'credence doctor --rebuild':
      'Rebuilds the store from its journal and checks it. First copy it with `credence backup`.',
  },
  async run({ options }, session) {
    const location = session.places.locate(options)
    const { dir, user } = location
    const store = await session.places.storeFile(dir)
    const privacy = privacyFindings(dir)
    const isLinked = privacy.some(({ check }) => check === 'links')
    const exists = !isLinked && (await session.places.hasMemory(options))
    const { findings: others, hints } = isLinked
      ? // Runs no other checks, because they would follow the link, and read and change files elsewhere.
        { findings: [], hints: [] }
      : exists
        ? await checkStore(session, store, location, options)
        : missingStoreReport(store)
    const findings = [...privacy, ...others]
    const ok = findings.every((finding) => finding.ok)
    return {
      document: { ok, dir, store, user, findings },
      text: (style) => findingsText(findings, style),
      notes: hints,
      exitCode: ok ? exitCodes.fine : exitCodes.degraded,
    }
  },
})

type Report = { readonly findings: readonly StoreFinding[]; readonly hints: readonly string[] }

const missingStoreReport = (store: string): Report => ({
  findings: [{ check: 'store', ok: true, detail: `there is none at ${store} yet` }],
  hints: ['`credence init` or `credence remember` creates a memory.'],
})

async function checkStore(
  session: Session,
  store: string,
  location: MemoryLocation,
  options: ValuesOf<typeof maintenance>,
): Promise<Report> {
  try {
    const { found, mirror } = await examineStore(session, location, options)
    // The findings `log` and `forgotten` name their own remedy.
    const isDamaged = found.some(({ check, ok }) => !ok && check !== 'log' && check !== 'forgotten')
    const hints = [...(isDamaged ? [remedy] : []), ...(mirror.every(({ ok }) => ok) ? [] : [mirrorRemedy])]
    if (!options.setAside) return { findings: [...found, ...mirror, ...queueFindings(location.dir)], hints }
    if (!isDamaged)
      throw conflict(
        `The store ${store} is not damaged.`,
        'Only a damaged store can be set aside. To make a copy, use `credence backup`.',
      )
  } catch (error) {
    if (!(error instanceof MemoryError) || !['unavailable', 'invalid'].includes(error.code)) throw error
    const broken = { check: 'store', ok: false, detail: error.message }
    if (!options.setAside) return { findings: [broken], hints: [error.hint ?? remedy] }
    if (error.code !== 'invalid') throw error
  }
  const detail = `moved to ${setAsideCorruptStore(store)}; the next command creates a new store`
  const hints = ['Get your beliefs back with `credence restore` or `credence import`.']
  return { findings: [{ check: 'set aside', ok: true, detail }], hints }
}

const mirrorRemedy = '`credence mirror status` shows details about MEMORY.md. The store itself is not affected.'

const remedy =
  '`credence doctor --rebuild` rebuilds the store from the journal. If the journal itself is damaged or incomplete, restore a backup; `credence doctor --accept-loss` accepts the journal as it is, `credence doctor --set-aside` renames the store, so that a new one is created.'

/** Findings about MEMORY.md are returned separately, because they do not justify setting the store aside. */
async function examineStore(session: Session, { dir, user }: MemoryLocation, options: ValuesOf<typeof maintenance>) {
  const done = await runMaintenance(session, dir, options)
  const { found, mirror } = await session.terminal.withProgress(async (bar) => {
    const check = async (ports: OpenedPorts) => {
      const mirror = mirrorFindings(await mirrorStatus(ports, dir))
      const found = await examine(ports, user, (name, at, total) => bar.show(`checking: ${name}`, at, total))
      return { mirror, found: [...done, ...found, await contentsFinding(ports.store, user)] }
    }
    return session.memories.withPorts(dir, check, { inspect: true }).catch((error: unknown) => {
      if (!(error instanceof MemoryError && error.code === 'conflict')) throw error
      // An older version made the store. Opening it for writing migrates it, as every other command would.
      return session.memories.withPorts(dir, check)
    })
  })
  const isLeft = found.some(({ check, ok }) => check === 'forgotten' && !ok)
  if (!isLeft) return { found, mirror }
  const finished = await session.terminal.withProgress((bar) => {
    bar.show('rewriting the store', 0, 1)
    return session.memories.withPorts(dir, finishForgetting)
  })
  return { found: found.map((finding) => (finding.check === 'forgotten' ? finished : finding)), mirror }
}

/** Runs --accept-loss and --rebuild, if given, before the check. */
async function runMaintenance(
  session: Session,
  dir: string,
  { acceptLoss: isAccepted, rebuild: isRebuilt }: ValuesOf<typeof maintenance>,
): Promise<readonly StoreFinding[]> {
  if (!isAccepted && !isRebuilt) return []
  return session.memories.withPorts(dir, async (ports) => {
    const done: StoreFinding[] = []
    if (isAccepted) done.push(await acceptLoss(ports))
    if (isRebuilt) done.push(await rebuild(ports))
    return done
  })
}

async function contentsFinding(store: Store, user: string): Promise<StoreFinding> {
  const only = { limit: 1, offset: 0 }
  const { total: beliefs } = await store.list({ user, current: true }, only)
  const { total: turns } = await store.listTurns({ user }, only)
  const { total: conversations } = await store.listSessions({ user }, only)
  const detail = `${pluralize(beliefs, 'current belief')}, ${pluralize(turns, 'turn')} in ${pluralize(conversations, 'conversation')}`
  return { check: 'contents', ok: true, detail }
}

/** Hook messages that are not in the store yet. */
function queueFindings(dir: string): readonly StoreFinding[] {
  const waiting = queuedNames(dir).length
  const failed = failedNames(dir).length
  if (waiting + failed === 0) return []
  const detail =
    failed === 0
      ? `${pluralize(waiting, 'message')} not stored yet; the next hook stores them`
      : `${pluralize(failed, 'message')} could not be stored because of a bug, in ${queueIn(dir)}/failed; report the bug, then remove them`
  return [{ check: 'hooks', ok: failed === 0, detail }]
}

/** The problems of MEMORY.md; if there are none, whether it is in sync with the store. */
function mirrorFindings(status: MirrorStatus): readonly StoreFinding[] {
  if (!status.exists) return []
  const problems = listMirrorProblems(status)
  const work = listWaitingWork(status)
  const state = work.length === 0 ? 'in sync' : work.join(' ')
  const detail =
    problems.length === 0 ? `${pluralize(status.items, 'item')} in ${status.file}, ${state}` : problems.join(' ')
  return [{ check: 'mirror', ok: problems.length === 0, detail }]
}

/** Max paths to list for each problem. */
const maxListed = 5

/** Whether the files of a memory belong to this account, are not accessible to others, and are not links. */
function privacyFindings(dir: string): readonly StoreFinding[] {
  if (!existsSync(dir)) return []
  const { links, foreign, loose } = examineFiles(dir, join(dir, 'state'))
  const listed = (problem: string, paths: readonly string[], remedy: string): string =>
    `${problem}: ${listShort(paths, maxListed)}; run: ${remedy} ${paths.slice(0, maxListed).map(shellWord).join(' ')}`
  const failures = [
    ...(links.length === 0 ? [] : [{ check: 'links', detail: listed('symbolic links', links, 'rm') }]),
    ...(foreign.length === 0
      ? []
      : [{ check: 'owner', detail: listed('of another user', foreign, 'chown "$(id -u)"') }]),
    ...(loose.length === 0 ? [] : [{ check: 'privacy', detail: listed('others have access', loose, 'chmod go-rwx') }]),
  ]
  if (failures.length > 0) return failures.map((failure) => ({ ...failure, ok: false }))
  return [{ check: 'privacy', ok: true, detail: 'only you may read the memory' }]
}

const findingsText = (findings: readonly StoreFinding[], style: Style): string => {
  const rows = findings.map(({ check, ok, detail }) => [ok ? 'ok  ' : 'FAIL', check, detail])
  return table(rows, style.width)
    .replace(/^ok(?= )/gm, style.green('ok'))
    .replace(/^FAIL(?= )/gm, style.red('FAIL'))
}
