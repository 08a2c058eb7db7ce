import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { parseScopes } from '../../../beliefs/scope.ts'
import { invalid, unavailable } from '../../../errors.ts'
import { takeLock } from '../../../files/lock.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { syncIfThere } from '../../../memory/mirror/sync-on-commit.ts'
import {
  noteSync,
  openSyncContext,
  type SyncContext,
  type SyncReport,
  syncStatus,
  syncWith,
} from '../../../memory/sync/exchange.ts'
import { isExcluded } from '../../../memory/sync/merge.ts'
import { answerPacked, notASync, packedSender } from '../../../memory/sync/messages.ts'
import { type DefaultAnswer, defineCommand, UsageError } from '../../command/command.ts'
import { flag, memoryOptions, optional, text, texts } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { lines, listShort, pluralize } from '../../text/output.ts'

const lockWaitMs = 600_000
const maxShownScopes = 5

export const sync = defineCommand({
  args: {
    target: optional(
      'The other machine: ssh://HOST runs credence there, https://HOST is a served Credence, anything else is a folder that another program copies. Default: all that were synced with before.',
    ),
  },
  options: {
    status: flag('Show the devices, when each was last seen, and how many changes wait.'),
    exclude: texts(
      '<scope>',
      'Neither send nor take this scope, on this device, from now on. May be given several times.',
    ),
    secretFile: text(
      '<file>',
      'Read the passphrase of a folder or the token of a server from a file, instead of asking.',
    ),
    yes: flag('Do not ask before the first sync with a target.'),
    stdio: flag('Answer another device on standard input and output. ssh:// runs it.'),
    ...memoryOptions,
  },
  description:
    'Exchanges beliefs, turns, proposals and forgetting with your other machines, in both directions; nothing is stored twice. Of two changes of one belief the newer one is current, and `credence review` shows the older one. What one machine forgot is erased on all. Settings, tokens, counts of recalls and evaluations stay on each machine. A folder is encrypted with a passphrase that is asked for once. The machine behind ssh:// needs `credence` in the PATH of non-interactive shells.',
  examples: {
    'credence sync ssh://desktop': 'Exchanges changes with the memory on another machine.',
    'credence sync ~/Dropbox/credence': 'Exchanges changes through a folder that a cloud drive copies.',
    'credence sync https://memory.example --secret-file ~/token': 'Exchanges changes with a served Credence.',
    'credence sync --status': 'Shows the devices and how many changes wait.',
  },
  async run({ args: { target }, options }, session) {
    const { dir, user } = await (options.status
      ? session.places.locateExisting(options)
      : session.places.locate(options))
    return session.memories.withPorts(dir, async (ports) => {
      const context = await openSyncContext(ports, user)
      if (options.stdio) {
        await answerOnStreams(context, session.terminal.streams())
        await syncIfThere(ports, { dir, user })
        return { document: {}, text: () => '' }
      }
      const device = await context.file.read()
      if (options.exclude.length > 0)
        await context.file.write({ ...device, excluded: parseScopes([...device.excluded, ...options.exclude]) })
      if (options.status || (target === undefined && options.exclude.length > 0)) return statusAnswer(context)
      const targets =
        target === undefined ? Object.keys(device.targets) : [addressOf(target, session.places.workingDirectory())]
      if (targets.length === 0)
        throw new UsageError('Nothing to sync with is known yet.', 'Name it, for example ssh://desktop, or a folder.')
      const release = await takeLock(join(dir, 'state', 'sync.lock'), 'The sync of this memory', lockWaitMs)
      try {
        const reports: TargetReport[] = []
        for (const address of targets) reports.push(await syncTo(context, address, options, session))
        return {
          document: { targets: reports },
          text: () =>
            lines(
              reports.map(({ target: one, received, sent }) => {
                const extent = `Received ${pluralize(received, 'change')} and sent ${sent}.`
                return reports.length === 1 ? extent : `${one}: ${extent}`
              }),
            ),
          notes: reports.flatMap(({ skipped }) =>
            skipped.length === 0
              ? []
              : `${pluralize(skipped.length, 'file')} of the folder cannot be read yet (half-copied, or earlier ones are missing) and will be taken later: ${skipped.join(', ')}`,
          ),
        }
      } finally {
        release()
        await syncIfThere(ports, { dir, user })
      }
    })
  },
})

/** Normalizes a target, so that two spellings of one folder are the same target. */
function addressOf(target: string, workingDirectory: string): string {
  if (/^(?:ssh|https?):\/\//u.test(target)) {
    if (!URL.canParse(target) || new URL(target).hostname === '') throw notAnAddress(target)
    return target.replace(/\/+$/u, '')
  }
  if (/^[a-z][a-z\d+.-]+:\/\//iu.test(target))
    throw new UsageError(`"${target}" is not a target.`, 'Use ssh://HOST, https://HOST or a folder.')
  return resolve(workingDirectory, target.replace(/^~(?=\/|$)/u, homedir()))
}

async function statusAnswer(context: SyncContext): Promise<DefaultAnswer> {
  const status = await syncStatus(context)
  return {
    document: status,
    notes: [status.targets.length === 0 && 'Not synced yet. Begin with `credence sync ssh://HOST` or a folder.'],
  }
}

const notAnAddress = (target: string) =>
  new UsageError(`"${target}" is not an address.`, 'Write ssh://USER@HOST:PORT/MEMORY/DIRECTORY or https://HOST.')

type FirstSync = { readonly secretFile: string | undefined; readonly yes: boolean }
type TargetReport = SyncReport & { readonly target: string }

async function syncTo(context: SyncContext, target: string, first: FirstSync, session: Session): Promise<TargetReport> {
  const known = (await context.file.read()).targets[target]
  if (known === undefined) await confirmFirst(context, target, first, session)
  const isSsh = target.startsWith('ssh://')
  let secret = known?.secret ?? (isSsh ? undefined : await askSecret(target, first.secretFile, session))
  return session.terminal.withProgress(async (bar) => {
    const show = (label: string, done: number, total: number): void => bar.show(label, done, total)
    let report: SyncReport
    if (isSsh) {
      const peer = openSsh(target)
      report = await syncWith(context, packedSender(peer.exchange), show).finally(peer.end)
    } else if (/^https?:/u.test(target)) {
      report = await syncWith(context, packedSender(httpExchange(target, secret ?? '')), show)
    } else {
      const { openFolderIdentity, syncFolder } = await import('../../../memory/sync/folder.ts')
      secret = known?.secret ?? (await openFolderIdentity(target, secret ?? ''))
      report = await syncFolder(context, target, secret, show)
    }
    await noteSync(context, target, secret)
    return { target, ...report }
  })
}

/** Asks before the first sync. Shows what this device would send, grouped by scope, so that the person can exclude a scope. */
async function confirmFirst({ ports, user, file }: SyncContext, target: string, first: FirstSync, session: Session) {
  if (first.yes) return
  const { excluded } = await file.read()
  const all = await ports.store.scopes(user)
  const sent = all.filter(({ scope }) => !isExcluded(scope, excluded))
  const kept = [...excluded, ...all.map(({ scope }) => scope).filter((scope) => isExcluded(scope, excluded))]
  const { total: turns } = await ports.store.listTurns({ user }, { limit: 1, offset: 0 })
  const { total: keptTurns } = await ports.store.listTurns({ user, scopes: kept }, { limit: 1, offset: 0 })
  const beliefs = sent.reduce((sum, scope) => sum + scope.beliefs, 0)
  const places = listShort(
    sent.map((scope) => `${scope.beliefs} in ${scope.scope}`),
    maxShownScopes,
  )
  const extent = `${pluralize(beliefs, 'belief')}${places === '' ? '' : ` (${places})`} and ${pluralize(turns - keptTurns, 'turn')}`
  const leavingOut = '`--exclude SCOPE` leaves a scope out.'
  const refusal = new UsageError(
    `The first sync with ${target} would send ${extent}, and receive those of the other side.`,
    `Confirm it with --yes. ${leavingOut}`,
  )
  const question = `Send ${extent}, with their history, to ${target}, and receive those of the other side? Settings and tokens stay here. ${leavingOut}`
  if (!(await session.terminal.confirm(question, refusal)))
    throw invalid('Nothing was exchanged.', 'Confirm the question to sync.')
}

async function askSecret(target: string, secretFile: string | undefined, session: Session): Promise<string> {
  const noun = /^https?:/u.test(target) ? 'token' : 'passphrase'
  const askTyped = async () =>
    session.terminal.isInteractive() ? session.terminal.ask(`The ${noun} of ${target}: `) : null
  const secret = (secretFile === undefined ? await askTyped() : readTextFile(secretFile))?.trim() ?? ''
  if (secret !== '') return secret
  throw new UsageError(
    `The first sync with ${target} needs its ${noun}.`,
    'Give a file that contains it with --secret-file.',
  )
}

/** Reads one message per line until the input ends, and writes one line in reply to each. */
async function answerOnStreams(context: SyncContext, { stdin, stdout }: { stdin: Readable; stdout: Writable }) {
  for await (const line of createInterface({ input: stdin }))
    if (line.trim() !== '') stdout.write(`${await answerPacked(context, line)}\n`)
}

/** Runs `credence sync --stdio` on another machine over ssh: each message is one line, and so is its reply. */
function openSsh(address: string) {
  const { username, hostname, port, pathname } = new URL(address)
  if (hostname.startsWith('-') || username.startsWith('-')) throw notAnAddress(address)
  const host = username === '' ? hostname : `${decodeURIComponent(username)}@${hostname}`
  const directory = decodeURIComponent(pathname).replace(/\/$/u, '')
  const command = `credence sync --stdio${directory === '' ? '' : ` --dir '${directory.replaceAll("'", `'\\''`)}'`}`
  const child = spawn('ssh', [...(port === '' ? [] : ['-p', port]), '-T', '--', host, command], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<never>((_resolve, reject) => {
    child.on('error', (cause) => reject(unavailable('ssh cannot be started.', 'Install OpenSSH.', cause)))
    child.on('exit', (code) =>
      reject(
        unavailable(`ssh to ${host} ended with exit code ${code}.`, `Try \`ssh ${host} credence sync --status\`.`),
      ),
    )
  })
  ended.catch(() => {})
  child.stdin.on('error', () => {})
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    exchange: async (message: string): Promise<string> => {
      child.stdin.write(`${message}\n`)
      const { value, done } = await Promise.race([answers.next(), ended])
      if (done) return ended
      return value
    },
    end: () => void child.stdin.end(),
  }
}

const httpExchange =
  (address: string, token: string) =>
  async (message: string): Promise<string> => {
    const response = await fetch(`${address}/api/v1/sync`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ message }),
    }).catch((cause: unknown) => {
      throw unavailable(`${address} cannot be reached.`, 'Check the address and the network.', cause)
    })
    const body = (await response.json().catch(() => null)) as { reply?: unknown; error?: { message?: unknown } } | null
    if (response.ok && typeof body?.reply === 'string') return body.reply
    if (typeof body?.error?.message !== 'string') throw notASync(address)
    throw unavailable(`${address} refused: ${body.error.message}`, 'Check the token: it must be that of a person.')
  }
