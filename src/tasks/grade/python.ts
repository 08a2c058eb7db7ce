import { execFile } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { promisify } from 'node:util'
import { z } from 'zod'

/** An interpreter, and the folder its library lies in. */
export type Python = { readonly executable: string; readonly prefix: string; readonly version: string }

const ask =
  'import json, sys; print(json.dumps([sys.executable, sys.base_prefix, ".".join(map(str, sys.version_info[:3]))]))'

const Reply = z.tuple([z.string().min(1), z.string().min(1), z.string().min(1)])

/** Names under which Python 3 is usually found, each with the arguments that make it one. */
const usualNames: readonly (readonly [name: string, ...args: string[]])[] =
  process.platform === 'win32' ? [['py', '-3'], ['python3'], ['python']] : [['python3']]

const longestStartMs = 20_000

/**
 * The interpreter that graders run on; null where there is none. What is found may be a script that only knows where
 * Python is, so it is asked for the real place.
 */
export async function findPython(names: typeof usualNames = usualNames): Promise<Python | null> {
  for (const [name, ...args] of names) {
    try {
      const { stdout } = await promisify(execFile)(name, [...args, '-I', '-c', ask], { timeout: longestStartMs })
      const [executable, prefix, version] = Reply.parse(JSON.parse(stdout))
      if (version.startsWith('3.')) {
        return { executable: realpathSync(executable), prefix: realpathSync(prefix), version }
      }
    } catch {
      // Not there, or not what its name says: the next name may be.
    }
  }
  return null
}
