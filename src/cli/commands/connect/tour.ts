import { defineCommand } from '../../command.ts'
import type { Style } from '../../output.ts'
import type { Session } from '../../session.ts'
import { indented } from '../../text-layout.ts'
import { playTour, type Scene, tourScopes } from '../../tour-scenes.ts'

export const tour = defineCommand({
  args: {},
  options: {},
  description: 'Nothing of yours is read or changed.',
  examples: [
    {
      command: 'credence tour',
      effect: 'Remembers a dozen things, recalls for six messages, and explains what it did.',
    },
    { command: 'credence tour --json', effect: 'The same as one JSON array, a scene each.' },
  ],
  async run(_input, session) {
    return {
      document: inTemporaryMemory(session, documentOf),
      text: (style) =>
        inTemporaryMemory(session, (scene) => sceneText(scene, { ...style, width: Math.min(style.width, 80) })),
    }
  },
})

/** Plays the scenes in a memory that is gone afterwards, whatever happens. */
async function* inTemporaryMemory<Shown>(session: Session, show: (scene: Scene) => Shown): AsyncGenerator<Shown> {
  const { memory, remove } = await session.temporaryMemory(tourScopes)
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
    return [...(command === null ? [] : [style.green(indented(`$ ${command}`, 2, style.width))]), output].join('\n')
  })
  return `${[style.bold(`${title}\n${'─'.repeat(title.length)}`), indented(told, 0, style.width), '', shown.join('\n\n')].join('\n').trimEnd()}\n\n`
}
