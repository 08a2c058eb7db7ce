import type { Belief } from '../../../beliefs/belief.ts'
import { parseScopes, visibleScopes } from '../../../beliefs/scope.ts'
import type { Undoing } from '../../../memory/change/undo.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type Argument, defineCommand, UsageError } from '../../command/command.ts'
import { authorOptions, flag, keyOptions, memoryOptions, readWholeNumber, texts } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { called, short } from '../../text/beliefs.ts'
import { harmless, lines } from '../../text/output.ts'

const changeNumber: Argument<number | undefined> = {
  help: 'The number of the change, from `credence history`. Without one, the latest change.',
  count: 'optional',
  takesStdin: false,
  read: ([text]) => (text === undefined ? undefined : readWholeNumber(text, { min: 1 })),
}

export const undo = defineCommand({
  args: { change: changeNumber },
  options: {
    yes: flag('Do not ask before undoing a change in another project.'),
    scope: {
      ...texts('<scope>', 'team:NAME undoes a change of a team; only its owners may.'),
      default: 'your own memory',
      read: (given: readonly string[]) => (given.length === 0 ? [] : parseScopes(given)),
    },
    ...memoryOptions,
    ...authorOptions,
    ...keyOptions,
  },
  description:
    'Asks first if the change was made in another project. Undoing an undo redoes the change. A forget cannot be undone.',
  examples: {
    'credence undo': 'Undoes the latest change.',
    'credence undo 12': 'Undoes change 12, unless a later change depends on it.',
    'credence undo --scope team:platform': 'Undoes the latest change of the team platform.',
  },
  async run({ args: { change }, options }, session) {
    const memory = await session.memory(options)
    const { scopes } = session.locate(options)
    /** None when a request with a key is repeated. */
    let concerned: readonly Belief[] = []
    const done = await memory.undo(change, {
      ...omitUndefined({ key: options.key }),
      review: async (undoing) => {
        concerned = undoing.beliefs
        return options.yes || mayUndo(undoing, scopes, session)
      },
    })
    const { undone, restored, withdrawn, event } = done
    const where = scopesOf(concerned)
    return {
      document: done,
      text: (style) =>
        lines(
          `${style.green('Undone')}: ${changeText(undone)}${where.length === 0 ? '' : `, in ${style.cyan(harmless(where.join(' and ')))}`}.`,
          restored.map((belief) => `  As before: ${called(belief)}: ${short(belief.content)}`),
          withdrawn.map((id) => {
            const gone = concerned.find((belief) => belief.id === id)
            return `  Withdrawn: ${gone === undefined ? harmless(id) : `${called(gone)}: ${short(gone.content)}`}`
          }),
          `  To reverse this: \`${style.command} undo ${event}\`.`,
        ),
    }
  },
})

const changeText = ({ number, kind, actor, origin }: Undoing['change']): string =>
  `change ${number}, ${kind} by ${actor} ${harmless(origin)}`

const scopesOf = (beliefs: readonly Belief[]): readonly string[] =>
  [...new Set(beliefs.flatMap((belief) => belief.scopes))].sort()

/** A change may be the import of a large file. */
const mostNamed = 3

/** Asks before a change is undone that was made in another project. */
async function mayUndo({ change, beliefs }: Undoing, active: readonly string[], session: Session): Promise<boolean> {
  const inView = visibleScopes(active)
  const elsewhere = beliefs.filter(
    ({ scopes }) => scopes.some((scope) => scope.startsWith('project:')) && !scopes.some((one) => inView.includes(one)),
  )
  if (elsewhere.length === 0) return true
  const where = harmless(scopesOf(elsewhere).join(' and '))
  const names = elsewhere.slice(0, mostNamed).map(called).join(', ')
  const more = elsewhere.length > mostNamed ? ` and ${elsewhere.length - mostNamed} more` : ''
  const what = `${changeText(change)}, was made in ${where}: ${names}${more}.`
  if (session.isInteractive()) return session.confirm(`This belongs to another project: ${what} Undo it?`)
  throw new UsageError(
    `This belongs to another project: ${what}`,
    `\`credence undo ${change.number} --yes\` undoes it; \`credence history\` lists other changes.`,
  )
}
