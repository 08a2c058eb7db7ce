import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readMirror } from '../../src/memory/mirror/read.ts'
import { saveBase } from '../../src/memory/mirror/state/copies.ts'
import { mirrorFile, mirrorPaths, rebuildState } from '../../src/memory/mirror/state/state.ts'
import { MirrorDocument } from '../../src/memory/mirror/write/document.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

it('saving an old copy of the file removes no line that waits or was written later', async () => {
  using directory = temporaryDirectory()
  const paths = mirrorPaths(directory.path)
  mkdirSync(paths.state, { recursive: true })
  const version = (number: number, lines: string) =>
    `# Memory\n\n<!-- credence:mirror ${number} -->\n\n## New <!-- credence:new -->\n\n${lines}`
  const texts = [
    version(1, '- **kept**: since version 1\n'),
    version(2, '- **kept**: since version 1\n- **late**: waits\n'),
  ]
  for (const text of texts) await saveBase(paths, new MirrorDocument(text), text)
  const state = rebuildState(paths, 'local')
  writeFileSync(join(paths.dir, mirrorFile), `${texts[0]}- **newest**: of the editor\n`)

  const onTorn = () => expect.unreachable()
  const read = readMirror(paths, state, { late: [], acceptsEmpty: false, onTorn })

  const text = 'document' in read ? read.document.render() : ''
  for (const name of ['kept', 'late', 'newest']) expect(text.split(`**${name}**`)).toHaveLength(2)
})
