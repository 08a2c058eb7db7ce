import { constants } from 'node:fs'
import { lstat, mkdir, open, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../../../files/leftovers.ts'
import { containedPath } from '../../parse/fields.ts'
import { listFiles } from '../../run/workspace.ts'
import { defineTool, type Tool, ToolRefusal } from './tools.ts'

const mostRead = 256 * 1024
const mostWritten = 1024 * 1024
const mostListed = 500

const Path = z.string().describe('A path in the workspace, such as notes/today.md.')

/** Reading, writing and listing files of the workspace, and of nothing else. */
export const fileTools = (workspace: string): readonly Tool[] => [
  defineTool({
    name: 'read_file',
    description: 'Read a text file of the workspace.',
    given: z.strictObject({ path: Path }),
    use: ({ path }) => readText(workspace, path),
  }),
  defineTool({
    name: 'write_file',
    description: 'Write a text file of the workspace. Folders are made as needed; what was in the file is replaced.',
    given: z.strictObject({ path: Path, content: z.string() }),
    use: ({ path, content }) => writeText(workspace, path, content),
  }),
  defineTool({
    name: 'list_files',
    description: 'List the files of the workspace, or of a folder in it.',
    given: z.strictObject({ path: z.string().optional().describe('A folder; left out, the whole workspace.') }),
    use: ({ path }) => listText(workspace, path ?? '.'),
  }),
]

async function readText(workspace: string, path: string): Promise<string> {
  const file = await openInside(workspace, path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, mostRead))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    const text = buffer.subarray(0, bytesRead).toString('utf8')
    return size > mostRead ? `${text}\n[cut: the file has ${size} bytes, of which ${mostRead} are shown]` : text
  } finally {
    await file.close()
  }
}

async function writeText(workspace: string, path: string, content: string): Promise<string> {
  const bytes = Buffer.from(content)
  if (bytes.length > mostWritten) {
    throw new ToolRefusal(`${path} would have ${bytes.length} bytes; at most ${mostWritten} can be written.`)
  }
  const file = await openInside(workspace, path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
  try {
    await file.writeFile(bytes)
  } finally {
    await file.close()
  }
  return `Wrote ${bytes.length} bytes to ${path}.`
}

async function listText(workspace: string, path: string): Promise<string> {
  const folder = ['.', './', ''].includes(path) ? '' : `${cleaned(path.replace(/\/+$/u, ''))}/`
  const { files } = await listFiles(workspace)
  const names = [...files]
    .filter(([name]) => name.startsWith(folder))
    .map(([name, { bytes }]) => `${name} (${bytes} bytes)`)
  if (names.length === 0) return folder === '' ? 'The workspace is empty.' : `There are no files in ${path}.`
  const more = names.length > mostListed ? [`[and ${names.length - mostListed} more]`] : []
  return [...names.toSorted().slice(0, mostListed), ...more].join('\n')
}

/** Opens a plain file of the workspace. Neither the path nor any link on the way may lead out of it. */
async function openInside(workspace: string, path: string, flags: number) {
  const root = await realpath(workspace)
  const target = join(root, cleaned(path))
  const isWriting = (flags & constants.O_CREAT) !== 0
  try {
    if (isWriting) await makeFolder(root, dirname(target), path)
    const folder = await realpath(dirname(target))
    if (!isInside(root, folder)) throw outside(path)
    const found = await lstat(target).catch(() => null)
    if (found !== null && !found.isFile()) {
      throw new ToolRefusal(`${path} is ${found.isDirectory() ? 'a folder' : 'not a plain file'}.`)
    }
    return await open(target, flags | (constants.O_NOFOLLOW ?? 0), 0o600)
  } catch (error) {
    if (error instanceof ToolRefusal) throw error
    throw new ToolRefusal(
      codeOf(error) === 'ENOENT' ? `There is no file ${path}.` : `${path}: ${codeOf(error) ?? error}.`,
    )
  }
}

/** Makes the folders on the way one by one, so that none is made behind a link that leads out. */
async function makeFolder(root: string, folder: string, path: string): Promise<void> {
  let place = root
  for (const name of relative(root, folder).split(sep)) {
    if (name === '') continue
    place = join(place, name)
    await mkdir(place).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
    if (!isInside(root, await realpath(place))) throw outside(path)
  }
}

const isInside = (root: string, place: string): boolean => place === root || place.startsWith(root + sep)

function cleaned(path: string): string {
  const inside = containedPath(path)
  if (inside === null) throw outside(path)
  return inside
}

const outside = (path: string): ToolRefusal => new ToolRefusal(`${path} is not a path inside the workspace.`)
