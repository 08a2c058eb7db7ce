import { MemoryError } from '../../errors.ts'
import type { Budget, Context } from '../../memory/context.ts'
import type { Memory } from '../../memory/memory.ts'
import { write } from '../output.ts'
import type { Session, StandpointOptions } from '../session.ts'
import { type HookEvent, type HookHost, hookAnswer } from './hook-event.ts'
import { type HookPayload, readPayload } from './hook-payload.ts'
import { keepForLater, type Lesson, takeUnlearned } from './unlearned.ts'

/** From the start of the process to its end. */
export const hookDeadlineMs = 300

/** Ending the process takes its time too. */
const reserveMs = 30

/** What is learned is written when at least this much time is left for it. */
const leastToLearnMs = 60

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
  readonly outcome: 'done' | 'switched off' | 'no memory yet' | 'no time to learn'
  readonly recalled: number
  readonly learned: number
}

/** Reads what the host says, tells it what belongs in the context, and then learns from what the person said. */
export async function runHook({ host, event, options }: HookRun, session: Session): Promise<HookOutcome> {
  const deadline = session.startedAt + hookDeadlineMs - reserveMs
  const left = (): number => deadline - performance.now()
  const { stdin, stdout } = session.streams()
  const payload = await readPayload(stdin, AbortSignal.timeout(Math.max(1, Math.floor(left()))))
  const here = payload.directory === null ? session : session.inDirectory(payload.directory)
  const place = here.place(options)
  const nothing = { dir: place.dir, recalled: 0, learned: 0 }
  if (!place.hooksEnabled) {
    await write(stdout, hookAnswer(host, event, ''))
    return { ...nothing, outcome: 'switched off' }
  }

  const author = { actor: 'person', origin: host } as const
  // Waiting for a writer longer than the host waits for us would be in vain.
  const patient = { ...options, as: author, busyTimeoutMs: Math.max(1, Math.floor(left() / 2)) }
  const isThere = await here.hasMemory(options)
  const memory = isThere ? await here.memory(patient) : null
  const context = memory === null ? null : await recallFor(memory, event, payload)
  await write(stdout, hookAnswer(host, event, context === null ? '' : await rendered(context)))

  const done = { dir: place.dir, recalled: context === null ? 0 : sizeOf(context) }
  const lessons = lessonsFor(event, payload, here, place.dir)
  // Most prompts teach nothing, and finding that out takes longer than answering: it is left for when nobody waits.
  const isUrgent = ({ text }: Lesson): boolean => event !== 'prompt-submit' || isTeaching(text)
  for (const lesson of lessons.filter((one) => !isUrgent(one))) keepForLater(place.dir, lesson)
  const { learned, isComplete } = await learnInTime(lessons.filter(isUrgent), {
    learn: async (lesson) => {
      // What was said elsewhere is learned as if it were still being said there.
      const there = lesson.directory === here.workingDirectory() ? here : session.inDirectory(lesson.directory)
      const learner = await learnerFor(there, there === here ? memory : null, patient, lesson)
      return learner === null ? 0 : learnFrom(learner, there.place(options).homeScopes, lesson, left())
    },
    putOff: (lesson) => keepForLater(place.dir, lesson),
    left,
  })
  return {
    ...done,
    learned,
    outcome: isComplete ? (isThere || learned > 0 ? 'done' : 'no memory yet') : 'no time to learn',
  }
}

/** What there is to learn from: what was said just now, or at the end of a turn what was put off before. */
function lessonsFor(event: HookEvent, payload: HookPayload, here: Session, dir: string): readonly Lesson[] {
  if (event === 'stop' || event === 'pre-compact') return takeUnlearned(dir)
  if (event !== 'prompt-submit' || !isSaidByPerson(payload.prompt)) return []
  return [{ text: said(payload.prompt), directory: here.workingDirectory(), session: payload.session }]
}

type Learning = {
  /** How many beliefs came of a lesson. */
  readonly learn: (lesson: Lesson) => Promise<number>
  readonly putOff: (lesson: Lesson) => void
  readonly left: () => number
}

/** Learns one by one while there is time; what there is none for is kept for the next time. */
async function learnInTime(
  lessons: readonly Lesson[],
  { learn, putOff, left }: Learning,
): Promise<{ readonly learned: number; readonly isComplete: boolean }> {
  let learned = 0
  let isComplete = true
  for (const lesson of lessons) {
    const came = left() < leastToLearnMs ? null : await learn(lesson).catch(nullIfBusy)
    if (came === null) {
      putOff(lesson)
      isComplete = false
    } else learned += came
  }
  return { learned, isComplete }
}

/** Somebody else was writing for longer than there was time to wait. */
function nullIfBusy(error: unknown): null {
  if (error instanceof MemoryError && (error.code === 'unavailable' || error.code === 'conflict')) return null
  throw error
}

async function recallFor(memory: Memory, event: HookEvent, { prompt }: HookPayload): Promise<Context | null> {
  if (event === 'session-start') return memory.recall('', { budget: standing })
  if (event === 'prompt-submit' && prompt !== '') return memory.recall(askedIn(prompt), { budget: onlyRelevant })
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

/** A memory is made when there is something to put into it. */
async function learnerFor(
  session: Session,
  memory: Memory | null,
  options: StandpointOptions,
  { text }: Lesson,
): Promise<Memory | null> {
  if (memory !== null) return memory
  const empty = await session.reading(options)
  const { taken } = await empty.learn(text, { dryRun: true })
  return taken.length === 0 ? null : session.memory(options)
}

/** A prompt this long is mostly not what the person said but what they pasted. */
const longestLesson = 8_000
const said = (prompt: string): string => prompt.slice(0, longestLesson).toWellFormed()

async function learnFrom(
  memory: Memory,
  scopes: readonly string[],
  { text, session }: Lesson,
  leftMs: number,
): Promise<number> {
  const { taken } = await memory.learn(text, {
    scopes,
    signal: AbortSignal.timeout(Math.max(1, Math.floor(leftMs))),
    ...(session === null ? {} : { sourceId: session.slice(0, 200) }),
  })
  return taken.length
}

/** What went wrong, without a word of what was said: messages of errors may repeat it. */
export const failureOf = (error: unknown): string => {
  if (error instanceof MemoryError) return `failed: ${error.code}`
  return `failed: ${error instanceof Error ? error.name : 'unknown'}`
}
