import { constants } from 'node:fs'
import { lstat, mkdir, open, realpath } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../../files/leftovers.ts'
import type { ToolDefinition } from '../../models/chat-model.ts'
import { containedPath } from '../parse/fields.ts'
import { listFiles } from '../run/workspace.ts'

type Arguments = Readonly<Record<string, unknown>>
export type AgentTool = ToolDefinition & { readonly use: (given: Arguments) => Promise<string> }

/** Why a tool refused a call; the message is for the model. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal'
}

/** A tool whose arguments are described and checked by one schema. */
export function defineTool<Given>(
  name: string,
  description: string,
  schema: z.ZodType<Given>,
  use: (given: Given) => Promise<string>,
): AgentTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' })
  return {
    name,
    description,
    parameters,
    use: async (raw) => {
      const checked = schema.safeParse(raw)
      if (checked.success) return use(checked.data)
      const [issue] = checked.error.issues
      throw new ToolRefusal(`${name}: ${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'not valid'}.`)
    },
  }
}

export async function useTool(
  tools: readonly AgentTool[],
  name: string,
  given: Arguments,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tool = tools.find((known) => known.name === name)
  if (tool === undefined) {
    const known = tools.map((tool) => tool.name).join(', ')
    return { text: `There is no tool ${name}. There are ${known}.`, isError: true }
  }
  try {
    return { text: await tool.use(given), isError: false }
  } catch (error) {
    if (error instanceof ToolRefusal) return { text: error.message, isError: true }
    throw error
  }
}

const maxRead = 256 * 1024
const maxWritten = 1024 * 1024
const maxListed = 500

const Path = z.string().describe('A path in the workspace, such as notes/today.md.')

/** Tools that read, write and list files of the workspace only. */
export const fileTools = (workspace: string): readonly AgentTool[] => [
  defineTool('read_file', 'Read a text file of the workspace.', z.strictObject({ path: Path }), async ({ path }) => {
    const file = await openInWorkspace(workspace, path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const { size } = await file.stat()
      const buffer = Buffer.alloc(Math.min(size, maxRead))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
      const text = buffer.subarray(0, bytesRead).toString('utf8')
      return size > maxRead ? `${text}\n[cut: the file has ${size} bytes, of which ${maxRead} are shown]` : text
    } finally {
      await file.close()
    }
  }),
  defineTool(
    'write_file',
    'Write a text file of the workspace. Folders are made as needed; what was in the file is replaced.',
    z.strictObject({ path: Path, content: z.string() }),
    async ({ path, content }) => {
      const bytes = Buffer.from(content)
      if (bytes.length > maxWritten) {
        throw new ToolRefusal(`${path} would have ${bytes.length} bytes; at most ${maxWritten} can be written.`)
      }
      const file = await openInWorkspace(workspace, path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
      await file.writeFile(bytes).finally(() => file.close())
      return `Wrote ${bytes.length} bytes to ${path}.`
    },
  ),
  defineTool(
    'list_files',
    'List the files of the workspace, or of a folder in it.',
    z.strictObject({ path: z.string().default('.').describe('A folder; left out, the whole workspace.') }),
    async ({ path }) => {
      const folder = ['.', './', ''].includes(path) ? '' : `${pathInside(path.replace(/\/+$/u, ''))}/`
      const names = [...(await listFiles(workspace)).files]
        .filter(([name]) => name.startsWith(folder))
        .map(([name, { bytes }]) => `${name} (${bytes} bytes)`)
      if (names.length === 0) return folder === '' ? 'The workspace is empty.' : `There are no files in ${path}.`
      const more = names.length > maxListed ? [`[and ${names.length - maxListed} more]`] : []
      return [...names.toSorted().slice(0, maxListed), ...more].join('\n')
    },
  ),
]

/** Opens a regular file of the workspace. Neither the path nor any link in it may lead outside. */
async function openInWorkspace(workspace: string, path: string, flags: number) {
  const root = await realpath(workspace)
  const target = join(root, pathInside(path))
  try {
    if ((flags & constants.O_CREAT) !== 0) await makeFolder(root, dirname(target), path)
    if (!isInside(root, await realpath(dirname(target)))) throw outside(path)
    const found = await lstat(target).catch(() => null)
    if (found !== null && !found.isFile()) {
      throw new ToolRefusal(`${path} is ${found.isDirectory() ? 'a folder' : 'not a plain file'}.`)
    }
    return await open(target, flags | (constants.O_NOFOLLOW ?? 0), 0o600)
  } catch (error) {
    if (error instanceof ToolRefusal) throw error
    const isMissing = codeOf(error) === 'ENOENT'
    throw new ToolRefusal(isMissing ? `There is no file ${path}.` : `${path}: ${codeOf(error) ?? error}.`)
  }
}

/** Creates the folders of a path one by one, so that none is created through a link that leads outside. */
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

function pathInside(path: string): string {
  const inside = containedPath(path)
  if (inside === null) throw outside(path)
  return inside
}

const outside = (path: string): ToolRefusal => new ToolRefusal(`${path} is not a path inside the workspace.`)
