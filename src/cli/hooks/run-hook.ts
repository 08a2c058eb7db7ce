import { MemoryError } from '../../errors.ts'
import { codeOf } from '../../files/leftovers.ts'
import { isWithin, pauseFor } from '../../memory/conversation/pause.ts'
import type { Memory } from '../../memory/memory.ts'
import type { Budget, Context } from '../../memory/recall/context.ts'
import { write } from '../output.ts'
import type { Place, Session, StandpointOptions } from '../session.ts'
import { type HookEvent, type HookHost, hookAnswer } from './hook-event.ts'
import { type HookPayload, readPayload } from './hook-payload.ts'
import { enqueue, isUnkept, markUnkept, type QueuedTurn, queuedNames } from './hook-queue.ts'

/** From the start of the process to the host's answer. */
export const hookDeadlineMs = 300

/** Ending the process takes its time too. */
const reserveMs = 30

/** Hosts end a hook after 5 s. Until then input that comes late is still kept, although it is too late for an answer. */
const longestInputMs = 4_000

/** Longer prompts are pastes: what is asked stands at their beginning or their end. */
const longestPrompt = 32_000

/** Hosts move longer context out of sight. */
const standing: Partial<Budget> = { maxPrelude: 2_000, maxCharacters: 6_000 }
/** The rest was said at the start of the session, and would only be repeated with every prompt. */
const onlyRelevant: Partial<Budget> = { maxPrelude: 0, maxPinned: 0, maxQuestions: 0, maxCharacters: 6_000 }

export type HookRun = { readonly host: HookHost; readonly event: HookEvent; readonly options: StandpointOptions }

/** What was done, in numbers. */
export type HookOutcome = {
  readonly dir: string
  readonly outcome: string
  readonly recalled?: number
  readonly queued?: number
  readonly kept?: number
  readonly learned?: number
  readonly refused?: number
}

/**
 * Reads what the host says, keeps it for a process of its own to hear, and tells the host what belongs in the context. The
 * deadline is for the answer alone: what was said is kept however late it comes.
 */
export async function runHook({ host, event, options }: HookRun, session: Session): Promise<HookOutcome> {
  if (event === 'hear') return hearNow(options, session)
  const left = (): number => session.startedAt + hookDeadlineMs - reserveMs - performance.now()
  const { stdin, stdout } = session.streams()
  const reading = readPayload(stdin, AbortSignal.timeout(longestInputMs))
  // Also when starting took all the time there was: what has come in by now is worth the moment of reading it.
  const inTime = await within(Math.max(reserveMs, left()), reading)
  if (inTime === null) await write(stdout, hookAnswer(host, event, ''))
  const payload = inTime ?? (await reading)

  const here = payload.directory === null ? session : session.inDirectory(payload.directory)
  const place = here.place(options)
  const { dir } = place
  const notKept = notKeptHere(here, place, options)
  const notice = event === 'prompt-submit' ? forgettingAskedIn(payload.prompt) : ''
  // Before anything that may fail, so that it is not lost then.
  const isKept = notKept === null && notice === ''
  const { queued, problem } = place.hooksEnabled ? await keepSaid(payload, { host, event, place, isKept }) : nothingSaid
  const done = { dir, queued: Number(queued) }
  try {
    if (inTime === null) return { ...done, outcome: 'late' }
    if (!place.hooksEnabled) {
      await write(stdout, hookAnswer(host, event, ''))
      return { ...done, outcome: 'switched off' }
    }
    const isThere = await here.hasMemory(options)
    // Waiting for a writer longer than the host waits for us would be in vain.
    const author = { actor: 'person', origin: host } as const
    const patient = { ...options, as: author, busyTimeoutMs: Math.max(1, Math.floor(left() / 2)) }
    const context = isThere ? await recallFor(() => here.memory(patient), event, payload) : null
    await write(stdout, hookAnswer(host, event, context === null ? '' : await rendered(context), notice))
    const recalled = context === null ? 0 : sizeOf(context)
    return { ...done, recalled, outcome: problem ?? notKept ?? (isThere ? 'done' : 'no memory yet') }
  } finally {
    if (queued || (event === 'session-start' && queuedNames(dir).length > 0))
      await session.startDetached(['hook', 'hear', '--host', host, '--dir', dir])
  }
}

/** The value, or null when it takes longer. */
async function within<Value>(ms: number, value: Promise<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null)
  })
  try {
    return await Promise.race([value, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Without a host that waits, and so without a deadline. */
async function hearNow(options: StandpointOptions, session: Session): Promise<HookOutcome> {
  const { dir } = session.place(options)
  const { hearQueue } = await import('./hear-queue.ts')
  const { outcome, failed, ...numbers } = await hearQueue(session, dir)
  return { dir, ...numbers, outcome: failed > 0 ? `failed: ${failed} set aside` : outcome }
}

/** Why nothing that is said here is kept; null where it is. */
function notKeptHere(here: Session, { dir }: Place, options: StandpointOptions): 'paused' | 'excluded' | null {
  const directory = here.workingDirectory()
  if (pauseFor(dir, directory, new Date()) !== null) return 'paused'
  const { excludedDirectories } = here.settings(options)
  return excludedDirectories.some((excluded) => isWithin(directory, excluded)) ? 'excluded' : null
}

type Moment = {
  readonly host: HookHost
  readonly event: HookEvent
  readonly place: Place
  readonly isKept: boolean
}

type Kept = { readonly queued: boolean; readonly problem: string | null }

const nothingSaid: Kept = { queued: false, problem: null }

/** Puts what was said into the queue, and says whether there was anything. Only the answer to a prompt that was kept is kept. */
async function keepSaid(payload: HookPayload, { host, event, place, isKept }: Moment): Promise<Kept> {
  const { prompt, session, answer } = payload
  const { dir, user, scopes, homeScopes } = place
  // Only Claude Code's transcript is one that can be read.
  const transcript = host === 'claude-code' ? payload.transcript : null
  const turn = (role: QueuedTurn['role'], text: string | null): QueuedTurn => {
    const at = new Date().toISOString()
    return { role, text, at, host, session, user, scopes, homeScopes, transcript }
  }
  try {
    if (event === 'prompt-submit' && /\S/.test(prompt)) {
      const { offTheRecord } = await import('../../memory/learn/rules.ts')
      const isSaid = isKept && isSaidByPerson(prompt) && !offTheRecord(prompt)
      if (session !== null && (!isSaid || isUnkept(dir, session))) markUnkept(dir, session, !isSaid)
      if (isSaid) enqueue(dir, turn('user', await maskedText(prompt)))
      return { queued: isSaid, problem: null }
    }
    if (event !== 'stop' || !isKept || (answer ?? transcript) === null) return nothingSaid
    if (session !== null && isUnkept(dir, session)) return nothingSaid
    enqueue(dir, turn('assistant', answer === null ? null : await maskedText(answer)))
    return { queued: true, problem: null }
  } catch (error) {
    // Where nothing can be written nothing can be kept, but what is known can still be told.
    const code = codeOf(error)
    if (code === undefined) throw error
    return { queued: false, problem: `not kept: ${code}` }
  }
}

/** Secrets are masked before anything reaches the disk. */
const maskedText = async (text: string): Promise<string> =>
  (await import('../../memory/learn/secrets.ts')).masked(text.toWellFormed())

async function recallFor(
  open: () => Promise<Memory>,
  event: HookEvent,
  { prompt }: HookPayload,
): Promise<Context | null> {
  if (event === 'session-start') return (await open()).recall('', { budget: standing })
  if (event === 'prompt-submit' && prompt !== '')
    return (await open()).recall(askedIn(prompt), { budget: onlyRelevant })
  return null
}

const askedIn = (prompt: string): string =>
  prompt.length <= longestPrompt
    ? prompt
    : `${prompt.slice(0, longestPrompt / 2)}\n${prompt.slice(-longestPrompt / 2)}`.toWellFormed()

const rendered = async (context: Context): Promise<string> =>
  (await import('../../memory/recall/render.ts')).renderContext(context)

const sizeOf = ({ prelude, pinned, relevant, questions, quotes }: Context): number =>
  (prelude?.beliefIds.length ?? 0) + pinned.length + relevant.length + questions.length + quotes.length

/** Commands (`/compact`, but not the path `/etc/hosts`) and what programs write, between tags, are not the person's words. */
const isSaidByPerson = (prompt: string): boolean =>
  !/^\s*\/[a-z][\w:-]*(?:\s|$)/i.test(prompt) && !/^\s*<[a-z][\w-]*>[\s\S]*<\/[\w-]+>\s*$/i.test(prompt)

/**
 * For a prompt that asks to forget what was said: the command that does so, since a hook can neither show what would go nor
 * ask. Such a prompt is not kept itself.
 */
function forgettingAskedIn(prompt: string): string {
  if (prompt.length > 300) return ''
  const [, about] =
    /^\s*(?:please\s+)?(?:forget|delete|erase)\s+(?:all|anything|everything|what|whatever)\s[^.!?\n]{0,20}?(?:(?:I|we)(?:['’]ve| have)?(?: ever)? (?:said|told you|mentioned|wrote)|you (?:know|remember|have))\s[^.!?\n]{0,20}?about\s+([^\n]{1,200}?)[\s.!?]*$/iu.exec(
      prompt,
    ) ?? []
  if (about === undefined) return ''
  const words = about.replace(/["`$\\]/g, '').trim()
  return `Nothing is forgotten yet. Only the person can forget what was said, with this command, which shows what would be removed and asks first: credence forget --containing "${words}"\n`
}

/** What went wrong, without a word of what was said: messages of errors may repeat it. */
export const failureOf = (error: unknown): string => {
  if (error instanceof MemoryError) return `failed: ${error.code}`
  return `failed: ${error instanceof Error ? error.name : 'unknown'}`
}
