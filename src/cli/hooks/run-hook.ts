import { MemoryError } from '../../errors.ts'
import type { Budget, Context } from '../../memory/context.ts'
import type { Memory } from '../../memory/memory.ts'
import { write } from '../output.ts'
import type { Session, StandpointOptions } from '../session.ts'
import { type HookEvent, type HookHost, hookAnswer } from './hook-event.ts'
import { type HookPayload, readPayload } from './hook-payload.ts'
import { hasUnlearned, keepForLater } from './unlearned.ts'

/** From the start of the process to its end. */
export const hookDeadlineMs = 300

/** Ending the process takes its time too. */
const reserveMs = 30

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
  readonly outcome: 'done' | 'switched off' | 'no memory yet' | 'not all learned'
  readonly recalled: number
  readonly learned: number
}

/**
 * Reads what the host says, tells it what belongs in the context, and has a process of its own learn from what the person
 * said: that takes longer than a host should wait.
 */
export async function runHook({ host, event, options }: HookRun, session: Session): Promise<HookOutcome> {
  if (event === 'learn') return learnNow(options, session)
  const left = (): number => session.startedAt + hookDeadlineMs - reserveMs - performance.now()
  const { stdin, stdout } = session.streams()
  // Also when starting took all the time there was: what has come in by now is worth the moment of reading it.
  const payload = await readPayload(stdin, AbortSignal.timeout(Math.max(reserveMs, Math.floor(left()))))
  const here = payload.directory === null ? session : session.inDirectory(payload.directory)
  const { dir, hooksEnabled } = here.place(options)
  if (!hooksEnabled) {
    await write(stdout, hookAnswer(host, event, ''))
    return { dir, recalled: 0, learned: 0, outcome: 'switched off' }
  }

  // Before anything that may fail, so that it is not lost then.
  const isTaught = event === 'prompt-submit' && noteLesson(payload, { host, directory: here.workingDirectory(), dir })
  const isThere = await here.hasMemory(options)
  // Waiting for a writer longer than the host waits for us would be in vain.
  const author = { actor: 'person', origin: host } as const
  const patient = { ...options, as: author, busyTimeoutMs: Math.max(1, Math.floor(left() / 2)) }
  const context = isThere ? await recallFor(() => here.memory(patient), event, payload) : null
  await write(stdout, hookAnswer(host, event, context === null ? '' : await rendered(context)))

  // Most prompts teach nothing, and finding that out takes a while: it is left for the end of the turn.
  if (isTaught || (event !== 'prompt-submit' && hasUnlearned(dir))) {
    await session.startDetached(['hook', 'learn', '--host', host, ...optionWords({ ...options, dir })])
  }
  return {
    dir,
    recalled: context === null ? 0 : sizeOf(context),
    learned: 0,
    outcome: isThere ? 'done' : 'no memory yet',
  }
}

/** Without a host that waits, and so without a deadline. */
async function learnNow(options: StandpointOptions, session: Session): Promise<HookOutcome> {
  const { dir } = session.place(options)
  const { learnLessons } = await import('./learn-lessons.ts')
  const { learned, isComplete } = await learnLessons(session, options, dir)
  return { dir, recalled: 0, learned, outcome: isComplete ? 'done' : 'not all learned' }
}

/** Keeps what the person said, and says whether it has the ring of something to be learned at once. */
function noteLesson(
  { prompt, session }: HookPayload,
  { host, directory, dir }: { readonly host: HookHost; readonly directory: string; readonly dir: string },
): boolean {
  if (!isSaidByPerson(prompt)) return false
  const text = prompt.slice(0, longestLesson).toWellFormed()
  try {
    keepForLater(dir, { text, directory, host, session })
  } catch {
    // Where nothing can be written nothing can be learned, but what is known can still be told.
    return false
  }
  return isTeaching(text)
}

const optionWords = ({ dir, user, scope = [] }: StandpointOptions): readonly string[] => [
  ...(dir === undefined ? [] : ['--dir', dir]),
  ...(user === undefined ? [] : ['--user', user]),
  ...scope.flatMap((one) => ['--scope', one]),
]

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
  (await import('../../memory/render.ts')).renderContext(context)

const sizeOf = ({ prelude, pinned, relevant, questions }: Context): number =>
  (prelude?.beliefIds.length ?? 0) + pinned.length + relevant.length + questions.length

/** Commands and what programs put in a person's mouth are not the person's words. */
const isSaidByPerson = (prompt: string): boolean => /\S/.test(prompt) && !/^\s*[/<!#]/.test(prompt)

/** Whether a prompt has the ring of telling something for good. Decides when it is learned from, not whether. */
const isTeaching = (text: string): boolean => tellingWords.test(text)
const tellingWords =
  /\b(?:remember|note that|keep in mind|from now on|going forward|for the record|fyi|actually|correction|no longer|not anymore|always|never|instead of|(?:i|we)(?:'m|'re|'ve|'d| am| are| have| will| would| only| usually| now)? (?:prefer|like|love|hate|dislike|use|want|decided|chose|agreed|moved|switched|work|live|call)|my [\w ]{1,30} (?:is|are)|our [\w ]{1,30} (?:is|are)|call (?:it|this|me))\b/i

/** A prompt this long is mostly not what the person said but what they pasted. */
const longestLesson = 8_000

/** What went wrong, without a word of what was said: messages of errors may repeat it. */
export const failureOf = (error: unknown): string => {
  if (error instanceof MemoryError) return `failed: ${error.code}`
  return `failed: ${error instanceof Error ? error.name : 'unknown'}`
}
