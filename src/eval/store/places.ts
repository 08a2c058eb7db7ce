import { type Dir, type Dirent, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../files/leftovers.ts'
import { manifestName, type StoreTree } from './layout.ts'
import { type Problem, wholeDocument } from './parse-artifact.ts'

/** Where a document is expected: its path, what a report calls it, and the id its name promises. */
export type Place = { readonly path: string; readonly file: string; readonly id: string }

const dayName = /^\d{4}-\d{2}-\d{2}$/u

/**
 * Everything in one tree of a store that is a document or pretends to be one, in no particular order and one at a time,
 * so that a tree of any size needs no memory. A tree that is not there is empty; one that cannot be read is a problem.
 */
export function* placesIn(root: string, tree: StoreTree): Generator<Place | Problem> {
  for (const entry of entriesOf(join(root, tree), tree)) {
    if ('message' in entry) yield entry
    else if (tree === 'benchmarks') yield* packPlace(root, entry)
    else if (entry.isDirectory() && tree !== 'baselines' && dayName.test(entry.name)) {
      const folder = `${tree}/${entry.name}`
      for (const inner of entriesOf(join(root, folder), folder)) {
        if ('message' in inner) yield inner
        else yield* documentPlace(root, folder, inner)
      }
    } else if (tree === 'shadow') yield* strayPlace(tree, entry)
    else yield* documentPlace(root, tree, entry)
  }
}

function* packPlace(root: string, entry: Dirent): Generator<Place | Problem> {
  const file = `benchmarks/${entry.name}`
  if (entry.isSymbolicLink()) yield problem(file, 'is a symbolic link, which is not followed')
  else if (entry.isDirectory()) {
    yield { path: join(root, file, manifestName), file: `${file}/${manifestName}`, id: entry.name }
  } else if (entry.name.endsWith('.json')) yield problem(file, 'must be in a folder of its own, as manifest.json')
}

function* documentPlace(root: string, folder: string, entry: Dirent): Generator<Place | Problem> {
  // Folders beside the runs hold their cases; other files are notes of people.
  if (!entry.name.endsWith('.json') || entry.isDirectory()) return
  const file = `${folder}/${entry.name}`
  yield { path: `${root}/${file}`, file, id: entry.name.slice(0, -'.json'.length) }
}

function* strayPlace(tree: StoreTree, entry: Dirent): Generator<Problem> {
  if (entry.isDirectory() || entry.isSymbolicLink() || entry.name.endsWith('.json')) {
    yield problem(`${tree}/${entry.name}`, 'must be in a folder named after its day, such as 2026-03-06')
  }
}

/** Names that begin with a dot are unfinished work and never documents. */
function* entriesOf(directory: string, file: string): Generator<Dirent | Problem> {
  let opened: Dir | undefined
  try {
    opened = opendirSync(directory, { bufferSize: 256 })
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (!entry.name.startsWith('.')) yield entry
    }
  } catch (error) {
    // A folder that another process has just removed has nothing in it either.
    if (codeOf(error) !== 'ENOENT') yield problem(file, `cannot be read: ${codeOf(error) ?? String(error)}`)
  } finally {
    opened?.closeSync()
  }
}

const problem = (file: string, message: string): Problem => ({ file, field: wholeDocument, message })
