import { authorityOf, type Belief } from '../../beliefs/belief.ts'
import { universalScope } from '../../beliefs/scope.ts'
import type { Memory } from '../memory.ts'
import { type Context, isShown } from './context.ts'

/** Max statements, and max characters of all of them together. */
const maxStatements = 8
const maxCharacters = 1_000
/** Max beliefs to read: more than `maxStatements`, because some are already in the context. */
const maxRead = 50

/**
 * The newest statements of the person that apply everywhere and are not in the context already. An agent gets them once, at the
 * start of a session, because a statement such as an allergy matters for messages that never name it.
 */
export async function statementsAboutPerson(
  memory: Pick<Memory, 'list'>,
  context: Context,
): Promise<readonly Belief[]> {
  if (!context.scopes.includes(universalScope)) return []
  const { items } = await memory.list({ scopes: [universalScope], current: true, limit: maxRead })
  let characters = 0
  return items
    .filter(
      (belief) =>
        belief.user === context.user &&
        belief.agent === null &&
        authorityOf(belief) === 'person' &&
        belief.type !== 'open_question' &&
        !isShown(context, belief.id),
    )
    .slice(0, maxStatements)
    .filter(({ name, content }) => {
      characters += name.length + content.length
      return characters <= maxCharacters
    })
}
