import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { taskText } from '../../../test/tasks/sample-task.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { loadTasks } from './load-tasks.ts'

/** Two packs with tasks, one without, and a folder that belongs to the user. */
function library() {
  const directory = temporaryDirectory()
  const put = (path: string, id: string): void => {
    const file = join(directory.path, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, taskText({ frontMatter: `id: ${id}` }))
  }
  put('packs/harbour/harbour.md', 'harbour')
  put('packs/harbour/harbour-storm.md', 'harbour-storm')
  put('packs/garden/roses.md', 'garden-roses')
  put('work/mine.md', 'mine')
  mkdirSync(join(directory.path, 'packs/figures'))
  writeFileSync(join(directory.path, 'packs/figures/README.md'), '# Figures\n')
  const places = { workingDirectory: join(directory.path, 'work'), packs: [join(directory.path, 'packs')] }
  return {
    path: directory.path,
    put,
    ids: (...given: string[]) => loadTasks(given, places).map(({ id }) => id),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  }
}

describe('finding tasks', () => {
  it('returns all tasks of every pack if none is named', () => {
    using shelf = library()

    expect(shelf.ids().toSorted()).toEqual(['garden-roses', 'harbour', 'harbour-storm'])
  })

  it('finds a task by its id or its file, and a pack by its name if no task has that name', () => {
    using shelf = library()

    expect(shelf.ids('harbour')).toEqual(['harbour'])
    expect(shelf.ids('garden')).toEqual(['garden-roses'])
    expect(shelf.ids('garden-roses')).toEqual(['garden-roses'])
    expect(shelf.ids('roses')).toEqual(['garden-roses'])
    expect(shelf.ids('../packs/harbour')).toEqual(['harbour-storm', 'harbour'])
    expect(shelf.ids('mine.md', 'harbour')).toEqual(['mine', 'harbour'])
  })

  it('returns a task once if it is named twice', () => {
    using shelf = library()

    expect(shelf.ids('harbour', '../packs/harbour/harbour.md')).toEqual(['harbour'])
  })

  it('refuses two tasks with the same id', () => {
    using shelf = library()
    shelf.put('work/other.md', 'mine')

    expect(() => shelf.ids('mine.md', 'other.md')).toThrow('both have the id "mine"')
  })

  it('suggests the nearest name', () => {
    using shelf = library()

    expect(() => shelf.ids('harbor-storm')).toThrow(
      expect.objectContaining({ code: 'not_found', hint: 'Did you mean "harbour-storm"?' }),
    )
  })

  it('reports a folder without tasks', () => {
    using shelf = library()

    expect(() => shelf.ids('../packs/figures')).toThrow('There are no tasks in')
  })

  it('does not follow a link to a task', () => {
    using shelf = library()
    symlinkSync(join(shelf.path, 'work/mine.md'), join(shelf.path, 'work/link.md'))

    expect(() => shelf.ids('link.md')).toThrow('is a symbolic link')
  })
})
