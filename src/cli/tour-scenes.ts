import type { Belief } from '../beliefs/belief.ts'
import { universalScope } from '../beliefs/scope.ts'
import type { BeliefDraft } from '../memory/change/draft.ts'
import type { Memory } from '../memory/memory.ts'
import type { Context } from '../memory/recall/context.ts'
import { rememberedText } from './commands/memory/remember.ts'
import { chainText } from './commands/memory/show.ts'
import { verdictText } from './commands/memory/why.ts'
import { contextText } from './describe-context.ts'
import { editedText } from './describe-edit.ts'
import type { Style } from './output.ts'
import { columns, counted, indented } from './text-layout.ts'

/** One thing that was really done, and what came of it. */
type Step = { readonly command: string | null; readonly result: unknown; readonly text: (style: Style) => string }

/** A part of the tour. */
export type Scene = { readonly title: string; readonly told: string; readonly steps: readonly Step[] }

const ledger = 'project:ledger'
const website = 'project:website'
export const tourScopes = [ledger, universalScope]

const drafts: readonly BeliefDraft[] = [
  {
    name: 'answer style',
    content: 'Prefers short answers with the command first',
    type: 'preference',
    subtype: 'style',
    scopes: [universalScope],
  },
  {
    name: 'TypeScript',
    content: 'Knows TypeScript deeply',
    why: 'Skip the basics',
    type: 'preference',
    subtype: 'expertise',
    expertise: { domain: 'typescript', depth: 'deep' },
    scopes: [universalScope],
  },
  {
    name: 'money',
    content: 'Amounts are whole cents, never floating point numbers.',
    type: 'decision',
    pinned: true,
    scopes: [ledger],
  },
  {
    name: 'payment terms',
    aliases: ['due date', 'invoice due'],
    content: 'Invoices are due in 14 days.',
    type: 'decision',
    scopes: [ledger],
  },
  {
    name: 'Redis',
    aliases: ['session cache'],
    content: 'Sessions are cached in Redis on port 6380.',
    why: 'Use port 6380 in every example; 6379 is taken.',
    type: 'decision',
    scopes: [ledger],
  },
  {
    name: 'Postgres',
    aliases: ['PostgreSQL', 'the database'],
    content: 'The ledger is kept in Postgres 17.',
    type: 'decision',
    scopes: [ledger],
  },
  { name: 'Ada Okafor', aliases: ['Ada'], content: 'Ada runs payroll and signs off releases.', scopes: [ledger] },
  {
    name: 'release day',
    aliases: ['deploy day'],
    content: 'Releases go out on Tuesdays.',
    type: 'decision',
    scopes: [ledger],
  },
  {
    name: 'node.js version',
    aliases: ['Node'],
    content: 'Production runs Node 24.',
    type: 'decision',
    scopes: [ledger],
  },
  {
    name: 'audit trail',
    content: 'Who changed an entry is kept for ten years.',
    status: 'inferred',
    confidence: 0.6,
    scopes: [ledger],
  },
  {
    name: 'which queue',
    content: 'Do we use NATS or Postgres for the job queue?',
    type: 'open_question',
    pinned: true,
    scopes: [ledger],
  },
  {
    name: 'colour palette',
    aliases: ['brand colours', 'the palette'],
    content: 'The website is green and off-white.',
    type: 'decision',
    scopes: [website],
  },
]

/** Plays the whole tour in a memory that has nothing in it. */
export async function* playTour(memory: Memory): AsyncGenerator<Scene> {
  yield await remembering(memory)
  yield await recalling(memory)
  yield await leavingOut(memory)
  yield await correcting(memory)
  yield await explaining(memory)
  yield await closing(memory)
}

async function remembering(memory: Memory): Promise<Scene> {
  const remembered = []
  for (const draft of drafts) remembered.push(await memory.remember(draft))
  const beliefs = remembered.map(({ belief }) => belief)
  const scopes = await memory.scopes()
  return {
    title: 'Remembering',
    told: `A belief is one statement with a name that people call it by, in the scope where it holds. Here are ${counted(beliefs.length, 'belief')} in ${counted(scopes.length, 'scope')}, in a memory that exists only for this tour.`,
    steps: [
      {
        command: 'credence remember "Invoices are due in 14 days." --name "payment terms" …',
        result: remembered,
        text: (style) => columns(beliefs.map(rowOf), { width: style.width }),
      },
    ],
  }
}

const rowOf = (belief: Belief): readonly string[] => [
  belief.name,
  belief.scopes.join(' '),
  belief.pinned ? 'pinned' : '',
  belief.content,
]

async function recalling(memory: Memory): Promise<Scene> {
  return {
    title: 'Recalling',
    told: 'For every message, Credence picks what belongs in the context of an agent: what is known about the person, what is pinned, and what the message names. How the second one was written does not matter; why it was taken is shown as arithmetic.',
    steps: [
      await recallStep(memory, 'What are our payment terms?', 'everything'),
      await recallStep(memory, 'Is the session cache in reedis safe?', 'explained'),
    ],
  }
}

async function leavingOut(memory: Memory): Promise<Scene> {
  return {
    title: 'Leaving out',
    told: 'What the message does not name is not recalled, however similar it sounds: a database that has nothing to do with the question only distracts. Other scopes are a boundary, but you are told what lies behind it.',
    steps: [
      await recallStep(memory, 'Good morning! Did you have a nice weekend?', 'relevant'),
      await recallStep(memory, 'Ask Ada about the brand colours.', 'near misses'),
    ],
  }
}

async function correcting(memory: Memory): Promise<Scene> {
  const corrected = await memory.correct('payment terms', { content: 'Invoices are due in 30 days.' })
  const after = await recallStep(memory, 'When is the invoice due?', 'relevant')
  const history = await memory.history('payment terms')
  return {
    title: 'Changing your mind',
    told: 'A correction replaces a belief. The old one is kept for the record and can never come back into a context; every change can be undone.',
    steps: [
      {
        command: 'credence correct "payment terms" "Invoices are due in 30 days."',
        result: corrected,
        text: (style) => indented(rememberedText(corrected, style), 2),
      },
      after,
      {
        command: 'credence history "payment terms"',
        result: history,
        text: (style) => chainText(history.chain, history.belief.id, style),
      },
    ],
  }
}

async function explaining(memory: Memory): Promise<Scene> {
  const message = 'Can we ship the release on a Friday?'
  const before = await memory.why(message, 'release day')
  const edited = await memory.addAliases('release day', ['ship the release'])
  return {
    title: 'Asking why not',
    told: 'A belief that you expected and did not get has a reason, and a remedy.',
    steps: [
      {
        command: `credence why "${message}" "release day"`,
        result: before,
        text: (style) => indented(verdictText(before, tourScopes, style), 2, style.width),
      },
      {
        command: 'credence alias "release day" add "ship the release"',
        result: edited,
        text: (style) =>
          indented(editedText(edited, 'The aliases are changed', 'Nothing had to be changed', style), 2, style.width),
      },
      await recallStep(memory, message, 'relevant'),
    ],
  }
}

async function closing(memory: Memory): Promise<Scene> {
  const events = await memory.events({ limit: 1 })
  const next = [
    ['credence init', 'make a memory of your own'],
    ['credence remember "…" --name "…"', 'and remember something'],
    ['credence recall "…" --explain', 'see what an agent would get, and why'],
    ['credence recall --render -', 'the block to put into a prompt'],
    ['credence --help', 'everything else'],
  ]
  return {
    title: 'Now you',
    told: `${counted(events[0]?.number ?? 0, 'change')} were made and journalled just now, in a memory that is gone when this line has been printed. Try next:`,
    steps: [
      {
        command: null,
        result: next.map(([command]) => command),
        text: (style) => columns(next, { width: style.width }),
      },
    ],
  }
}

type Showing = 'everything' | 'relevant' | 'explained' | 'near misses'

/** One recall, shown whole the first time and then without what is the same for every message. */
async function recallStep(memory: Memory, message: string, showing: Showing): Promise<Step> {
  const context = await memory.recall(message, { nearMisses: showing === 'near misses' })
  const shown: Context = showing === 'everything' ? context : { ...context, prelude: null, pinned: [], questions: [] }
  const explain = showing === 'explained'
  return {
    command: `credence recall "${message}"${explain ? ' --explain' : ''}${showing === 'near misses' ? ' --near-misses' : ''}`,
    result: context,
    text: (style) => {
      const text = contextText(shown, { explain }, { ...style, width: style.width - 2 })
      return indented(text === '' ? 'Nothing is relevant to this message.' : text, 2)
    },
  }
}
