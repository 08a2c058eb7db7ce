import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Finding } from '../../../beliefs/store-care.ts'
import { MemoryError } from '../../../errors.ts'
import { examine, rebuild } from '../../../memory/explain/doctor.ts'
import { type MirrorStatus, mirrorStatus } from '../../../memory/mirror/status.ts'
import type { Store } from '../../../memory/store.ts'
import { isDamage } from '../../../store/sqlite/database.ts'
import { setAsideCorruptStore } from '../../../store/sqlite/store-file.ts'
import { defineCommand, flag, text } from '../../command.ts'
import { placeOptions } from '../../common-options.ts'
import { exitCodes } from '../../exit-codes.ts'
import { failedNames, queuedNames, queueIn } from '../../hooks/hook-queue.ts'
import type { Style } from '../../output.ts'
import type { Session } from '../../session.ts'
import { columns, counted } from '../../text-layout.ts'

export const doctor = defineCommand({
  args: {},
  options: {
    rebuild: flag('Derive everything again from the journal first.'),
    backup: text('<file>', 'Write a complete copy to a new file first.'),
    setAside: flag('Rename a store that is damaged, so that a new one is made; nothing is deleted.'),
    ...placeOptions,
  },
  description:
    'Checks the file, the journal, every belief, every index and the mirror, and really remembers, recalls and forgets something.',
  exitCodes: [exitCodes.degraded],
  examples: [
    { command: 'credence doctor', effect: 'Says for each check whether it is well.' },
    {
      command: 'credence doctor --backup ~/memory.db --rebuild',
      effect: 'Copies the store, derives it again from its journal and checks it.',
    },
  ],
  async run({ options }, session) {
    const { dir, user } = session.place(options)
    const store = await session.storeFile(dir)
    const { findings, hints } = existsSync(store)
      ? await lookAfter(session, { dir, user, store }, options)
      : nothingThere(store)
    const ok = findings.every((finding) => finding.ok)
    return {
      document: { ok, dir, store, user, findings },
      text: (style) => findingsText(findings, style),
      notes: hints,
      exitCode: ok ? exitCodes.fine : exitCodes.degraded,
    }
  },
})

type Report = { readonly findings: readonly Finding[]; readonly hints: readonly string[] }
type Care = { readonly rebuild: boolean; readonly backup?: string | undefined; readonly setAside: boolean }

const nothingThere = (store: string): Report => ({
  findings: [{ check: 'store', ok: true, detail: `there is none at ${store} yet` }],
  hints: ['`credence init` makes a memory; so does `credence remember`.'],
})

type Subject = { readonly dir: string; readonly user: string; readonly store: string }

async function lookAfter(session: Session, { dir, user, store }: Subject, care: Care): Promise<Report> {
  const privacy = privacyOf(store)
  try {
    const { store: examined, mirror } = await treat(session, { dir, user }, care)
    const findings = [privacy, ...examined]
    const isSound = findings.every(({ ok }) => ok)
    const hints = [...(isSound ? [] : [remedy]), ...(mirror.every(({ ok }) => ok) ? [] : [mirrorRemedy])]
    if (!care.setAside) return { findings: [...findings, ...mirror, ...queueFindings(dir)], hints }
    if (isSound) {
      throw new MemoryError('conflict', `The store ${store} is sound.`, {
        hint: 'Only a damaged store is set aside. To have a copy, use --backup.',
      })
    }
  } catch (error) {
    if (!(error instanceof MemoryError && error.code === 'unavailable')) throw error
    const broken = { check: 'store', ok: false, detail: error.message }
    if (!care.setAside) return { findings: [privacy, broken], hints: [error.hint ?? remedy] }
    if (!isDamage(error.cause)) throw error
  }
  const moved = setAsideCorruptStore(store)
  const detail = `moved to ${moved}; the next command begins a new store`
  return {
    findings: [{ check: 'set aside', ok: true, detail }],
    hints: ['Take beliefs back in from an export or a backup.'],
  }
}

const mirrorRemedy = '`credence mirror status` says more about MEMORY.md; the store itself is not concerned.'

const remedy =
  '`credence doctor --rebuild` derives everything again from the journal. If the journal itself is damaged, `credence doctor --set-aside` renames the store so that a new one is made.'

/** What is wrong with the file beside a store is no reason to touch the store. */
type Examination = { readonly store: readonly Finding[]; readonly mirror: readonly Finding[] }

async function treat(
  session: Session,
  { dir, user }: Omit<Subject, 'store'>,
  { backup, rebuild: isRebuild }: Care,
): Promise<Examination> {
  const ports = await session.ports(dir)
  try {
    const done: Finding[] = []
    if (backup !== undefined) {
      const file = resolve(session.workingDirectory(), backup)
      await ports.store.backup(file)
      done.push({ check: 'backup', ok: true, detail: `a complete copy is in ${file}` })
    }
    if (isRebuild) done.push(await rebuild(ports))
    const mirror = mirrorFindings(await mirrorStatus(ports, dir))
    const found = [...done, ...(await examine(ports)), await contentsOf(ports.store, user)]
    return { store: found, mirror }
  } finally {
    await ports.store.close()
  }
}

async function contentsOf(store: Store, user: string): Promise<Finding> {
  const only = { limit: 1, offset: 0 }
  const { total: beliefs } = await store.list({ user, current: true }, only)
  const { total: turns } = await store.listTurns({ user }, only)
  const { total: conversations } = await store.listSessions({ user }, only)
  const detail = `${counted(beliefs, 'current belief')}, ${counted(turns, 'turn')} in ${counted(conversations, 'conversation')}`
  return { check: 'contents', ok: true, detail }
}

/** Messages of hooks that are not in the store. */
function queueFindings(dir: string): readonly Finding[] {
  const [waiting, failed] = [queuedNames(dir).length, failedNames(dir).length]
  if (waiting + failed === 0) return []
  const detail =
    failed === 0
      ? `${counted(waiting, 'message')} not heard yet; the next hook hears them`
      : `${counted(failed, 'message')} could not be heard because of a bug, in ${queueIn(dir)}/failed; report the bug, then remove them`
  return [{ check: 'hooks', ok: failed === 0, detail }]
}

/** A file that is held, or says something else than the store, is something a doctor should tell. */
function mirrorFindings(status: MirrorStatus): readonly Finding[] {
  if (!status.exists) return []
  const { held, problem, conflicts, refused, pendingEvents, editedFiles, items, file } = status
  const trouble = [
    ...(held === null ? [] : [`${file} is held: ${held.reason} (${held.file})`]),
    ...(problem === null ? [] : [problem.message]),
    ...conflicts.map(({ file: name }) => `changed in both places: ${name}`),
    ...refused.map(({ file: name, line, reason }) => `${name}, line ${line} was not taken in: ${reason}`),
  ]
  const waiting = pendingEvents + editedFiles.length === 0 ? 'in step' : 'not in step yet; run: credence mirror sync'
  const detail = trouble.length === 0 ? `${counted(items, 'item')} in ${file}, ${waiting}` : trouble.join('; ')
  return [{ check: 'mirror', ok: trouble.length === 0, detail }]
}

/** A memory is nobody else's business. Windows has no such permissions. */
function privacyOf(store: string): Finding {
  const mode = statSync(store).mode & 0o777
  const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
  const octal = mode.toString(8)
  return {
    check: 'privacy',
    ok: isPrivate,
    detail: isPrivate
      ? 'only you may read the store'
      : `others may read or write the store (mode ${octal}); run: chmod 600 ${store}`,
  }
}

const findingsText = (findings: readonly Finding[], style: Style): string => {
  const text = columns(
    findings.map(({ check, ok, detail }) => [ok ? 'ok  ' : 'FAIL', check, detail]),
    { indent: 0, width: style.width },
  )
  return text.replace(/^ok(?= )/gm, style.green('ok')).replace(/^FAIL(?= )/gm, style.red('FAIL'))
}
