import { parse, stringify, type TomlTable } from 'smol-toml'
import { MemoryError } from '../../errors.ts'

const begin = '# credence: begin (written by `credence connect`; `--remove` takes it out)'
const end = '# credence: end'

/** A text with our table at its end, everything else as it was. */
export function withTable(text: string | null, path: readonly string[], table: TomlTable, file: string): string {
  const bare = withoutTable(text ?? '')
  const eol = bare.includes('\r\n') ? '\r\n' : '\n'
  const known = parsed(bare, file)
  if (tableAt(known, path) !== undefined)
    throw new MemoryError('conflict', `${file} has a [${path.join('.')}] that Credence did not write.`, {
      hint: 'Remove it, or see with --print what to write by hand.',
    })
  const block = [begin, `[${path.join('.')}]`, stringify(table).trim(), end, ''].join('\n').replaceAll('\n', eol)
  const gap = bare === '' ? '' : bare.endsWith('\n') ? eol : eol + eol
  const edited = bare + gap + block
  // A table that was written in another way elsewhere in the file shows only now.
  parsed(edited, file)
  return edited
}

/** A text without our table. */
export function withoutTable(text: string): string {
  const from = text.indexOf(begin)
  const last = text.indexOf(end, from)
  if (from < 0 || last < 0) return text
  const before = text.slice(0, from).replace(/(\r?\n)\r?\n$/, '$1')
  return before + text.slice(last + end.length).replace(/^\r?\n/, '')
}

function tableAt(table: TomlTable, path: readonly string[]): unknown {
  let at: unknown = table
  for (const key of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

function parsed(text: string, file: string): TomlTable {
  try {
    return parse(text)
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw new MemoryError('invalid', `${file} cannot be edited: ${reason}.`, {
      hint: 'Mend it, or see with --print what to write into it by hand.',
      cause,
    })
  }
}
