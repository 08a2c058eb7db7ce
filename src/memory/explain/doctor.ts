import type { OnProgress, StoreCare, StoreFinding } from '../../beliefs/store-care.ts'
import { MemoryError } from '../../errors.ts'
import { formKeys } from '../../search/forms.ts'
import type { Store } from '../ports.ts'

type Examined = { readonly store: Store & StoreCare }

/** Checks the whole store, and that recall finds the user's newest belief by its name. Read-only. */
export async function examine(
  { store }: Examined,
  user: string,
  onProgress?: OnProgress,
): Promise<readonly StoreFinding[]> {
  return [...(await store.verify(onProgress)), ...(await recallFinding(store, user))]
}

/** Empty if the user has no current beliefs. */
async function recallFinding(store: Store, user: string): Promise<readonly StoreFinding[]> {
  const { items } = await store.list(
    { user, current: true, candidates: false, proposals: false },
    { limit: 1, offset: 0 },
  )
  const [newest] = items
  if (newest === undefined) return []
  const view = { user, agent: newest.agent, scopes: newest.scopes }
  const found = await store.postings(
    view,
    formKeys(newest.name).map(({ key }) => key),
  )
  const ok = [...found.values()].flat().some(({ beliefId }) => beliefId === newest.id)
  const detail = ok
    ? 'the newest belief is found by its name'
    : `${newest.id}, the newest belief, is not found by its name`
  return [{ check: 'recall', ok, detail }]
}

/** Rebuilds all derived data from the journal and reports whether anything changed. Refuses an incomplete journal. */
export async function rebuild({ store }: Examined): Promise<StoreFinding> {
  const before = await store.fingerprint()
  try {
    await store.rebuild()
  } catch (error) {
    if (!(error instanceof MemoryError && error.code === 'conflict')) throw error
    return { check: 'rebuild', ok: false, detail: error.message }
  }
  // The file may still contain the old index, with words of forgotten texts.
  await store.scrub()
  const after = await store.fingerprint()
  const detail =
    before === after ? 'identical to what was there' : 'what was there differed from the journal and has been replaced'
  return { check: 'rebuild', ok: true, detail }
}

/** Removes remains of forgotten text from unused parts of the file. Forgetting leaves some if the store is large or in use. */
export async function finishForgetting({ store }: Examined): Promise<StoreFinding> {
  const check = 'forgotten'
  try {
    if (await store.scrub())
      return { check, ok: true, detail: 'forgotten text was left in unused parts of the file, and is removed now' }
    const reason = 'another process is reading the store; end it and run this command again'
    return { check, ok: false, detail: `forgotten text is left in unused parts of the file, because ${reason}` }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return { check, ok: false, detail: `forgotten text is left in unused parts of the file: ${error.message}` }
  }
}

/** Accepts the journal as complete, although events at its end were lost. */
export async function acceptLoss({ store }: Examined): Promise<StoreFinding> {
  await store.anchorJournal()
  const { number } = await store.head()
  return { check: 'accept loss', ok: true, detail: `the journal up to event ${number} is taken as the whole journal` }
}
