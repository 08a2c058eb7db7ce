import { universalScope } from '../../../beliefs/scope.ts'
import type { BeliefDraft } from '../../../memory/change/draft.ts'
import type { Memory } from '../../../memory/memory.ts'
import type { Context } from '../../../memory/recall/context.ts'
import { defineCommand } from '../../command/command.ts'
import type { Session } from '../../session.ts'
import { editedText, versionRows } from '../../text/beliefs.ts'
import { defaultText } from '../../text/default-text.ts'
import { columns, indentText, pluralize, type Style } from '../../text/output.ts'
import { contextText } from '../../text/recall.ts'
import { rememberedText } from '../memory/remember.ts'
import { verdictText } from '../memory/why.ts'
import drafts from './tour-beliefs.json' with { type: 'json' }

type TourStep = { readonly command: string | null; readonly result: unknown; readonly text: (style: Style) => string }

export type Scene = { readonly title: string; readonly told: string; readonly steps: readonly TourStep[] }

export const tourScopes = ['project:ledger', universalScope]

export async function* playTour(memory: Memory): AsyncGenerator<Scene> {
  for (const play of [rememberScene, recallScene, leaveOutScene, correctScene, explainScene, closingScene])
    yield await play(memory)
}

async function rememberScene(memory: Memory): Promise<Scene> {
  const remembered = []
  for (const draft of drafts as readonly BeliefDraft[]) remembered.push(await memory.remember(draft))
  const beliefs = remembered.map(({ belief }) => belief)
  const rows = beliefs.map(({ name, scopes: own, pinned, content }) => [
    name,
    own.join(' '),
    pinned ? 'pinned' : '',
    content,
  ])
  const scopes = await memory.scopes()
  return {
    title: 'Remembering',
    told: `A belief is one statement with a name and a scope. Here are ${pluralize(beliefs.length, 'belief')} in ${pluralize(scopes.length, 'scope')}, in a memory that exists only for this tour.`,
    steps: [
      {
        command: 'credence remember "Invoices are due in 14 days." --name "payment terms" …',
        result: remembered,
        text: (style) => columns(rows, { width: style.width }),
      },
    ],
  }
}

async function recallScene(memory: Memory): Promise<Scene> {
  return {
    title: 'Recalling',
    told: 'For every message, Credence selects the context for an agent: preferences of the person, pinned beliefs, and beliefs that the message names. After the first message, the tour shows only what belongs to the message itself. The second message has a typo and still finds its belief; the score is shown as arithmetic.',
    steps: [
      await recallStep(memory, 'What are our payment terms?', 'everything'),
      await recallStep(memory, 'Is the session cache in reedis safe?', 'explained'),
    ],
  }
}

async function leaveOutScene(memory: Memory): Promise<Scene> {
  return {
    title: 'Leaving out',
    told: 'A belief that the message does not name is not recalled, even if it is similar: an unrelated belief only distracts. Beliefs of other scopes are never recalled, but the output names them.',
    steps: [
      await recallStep(memory, 'Good morning! Did you have a nice weekend?', 'relevant'),
      await recallStep(memory, 'Ask Ada about the brand colours.', 'near misses'),
    ],
  }
}

async function correctScene(memory: Memory): Promise<Scene> {
  const corrected = await memory.correct('payment terms', { content: 'Invoices are due in 30 days.' })
  const after = await recallStep(memory, 'When is the invoice due?', 'relevant')
  const history = await memory.history('payment terms')
  return {
    title: 'Changing your mind',
    told: 'A correction replaces a belief. The old one stays in the history and is never recalled; every change can be undone.',
    steps: [
      {
        command: 'credence correct "payment terms" "Invoices are due in 30 days."',
        result: corrected,
        text: (style) => indentText(rememberedText(corrected, style), 2),
      },
      after,
      {
        command: 'credence history "payment terms"',
        result: history,
        text: (style) => defaultText(versionRows(history.chain, history.belief.id), style),
      },
    ],
  }
}

async function explainScene(memory: Memory): Promise<Scene> {
  const message = 'Can we ship the release on a Friday?'
  const before = await memory.why(message, 'release day')
  const edited = await memory.addAliases('release day', ['ship the release'])
  return {
    title: 'Asking why not',
    told: 'If a belief is missing, `why` gives the reason and a change that helps.',
    steps: [
      {
        command: `credence why "${message}" "release day"`,
        result: before,
        text: (style) => indentText(verdictText(before, tourScopes, style), 2, style.width),
      },
      {
        command: 'credence alias "release day" add "ship the release"',
        result: edited,
        text: (style) => indentText(editedText(edited, 'Aliases changed', 'Aliases unchanged', style), 2, style.width),
      },
      await recallStep(memory, message, 'relevant'),
    ],
  }
}

async function closingScene(memory: Memory): Promise<Scene> {
  const events = await memory.events({ limit: 1 })
  const next = {
    'credence remember "…" --name "…"': 'store a statement in your own memory',
    'credence recall "…" --explain': 'see what an agent would get, and why',
    'credence connect claude-code': 'give an agent this memory',
    'credence import chats ~/.claude/projects': 'bring in past conversations',
    'credence --help': 'everything else',
  }
  return {
    title: 'Now you',
    told: `${pluralize(events[0]?.number ?? 0, 'change')} were made in a temporary memory, which is deleted now. Try next:`,
    steps: [
      {
        command: null,
        result: Object.keys(next),
        text: (style) =>
          columns(
            Object.entries(next).map(([command, use]) => [command.replace('credence', style.command), use]),
            { width: style.width },
          ),
      },
    ],
  }
}

type RecallView = 'everything' | 'relevant' | 'explained' | 'near misses'

/** One recall. Only `everything` also shows the tiers that are the same for every message. */
async function recallStep(memory: Memory, message: string, showing: RecallView): Promise<TourStep> {
  const context = await memory.recall(message, { nearMisses: showing === 'near misses' })
  const shown: Context = showing === 'everything' ? context : { ...context, prelude: null, pinned: [], questions: [] }
  const explain = showing === 'explained'
  return {
    command: `credence recall "${message}"${explain ? ' --explain' : ''}${showing === 'near misses' ? ' --near-misses' : ''}`,
    result: context,
    text: (style) => {
      const text = contextText(shown, { explain, ages: new Map() }, { ...style, width: style.width - 2 })
      return indentText(text === '' ? 'Nothing is relevant to this message.' : text, 2)
    },
  }
}

export const tour = defineCommand({
  args: {},
  options: {},
  description: 'Your own memory is neither read nor changed.',
  examples: {
    'credence tour': 'Remembers a dozen beliefs, recalls for six messages, and explains the results.',
  },
  async run(_input, session) {
    return {
      document: inTemporaryMemory(session, documentOf),
      text: (style) =>
        inTemporaryMemory(session, (scene) => sceneText(scene, { ...style, width: Math.min(style.width, 80) })),
    }
  },
})

/** Plays the scenes in a temporary memory, which is removed afterwards, even after an error. */
async function* inTemporaryMemory<Shown>(session: Session, show: (scene: Scene) => Shown): AsyncGenerator<Shown> {
  const { memory, remove } = await session.memories.temporary(tourScopes)
  try {
    for await (const scene of playTour(memory)) yield show(scene)
  } finally {
    await remove()
  }
}

const documentOf = ({ title, told, steps }: Scene) => ({
  title,
  told,
  steps: steps.map(({ command, result }) => ({ command, result })),
})

function sceneText({ title, told, steps }: Scene, style: Style): string {
  const shown = steps.map(({ command, text }) => {
    const output = text(style).trimEnd()
    return [
      ...(command === null
        ? []
        : [style.green(indentText(`$ ${command.replace('credence', style.command)}`, 2, style.width))]),
      output,
    ].join('\n')
  })
  return `${[style.bold(`${title}\n${'─'.repeat(title.length)}`), indentText(told, 0, style.width), '', shown.join('\n\n')].join('\n').trimEnd()}\n\n`
}
