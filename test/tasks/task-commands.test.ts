import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../cli/sandbox.ts'
import { taskText } from './sample-task.ts'

describe('credence task list', () => {
  it('lists the tasks of a folder by name, and no other files', async () => {
    using place = createSandbox()
    const folder = join(place.work, 'tasks')
    mkdirSync(folder)
    for (const id of ['bees', 'ants']) writeFileSync(join(folder, `${id}.md`), taskText({ frontMatter: `id: ${id}` }))
    writeFileSync(join(folder, 'README.md'), '# Tasks\n')
    writeFileSync(join(folder, 'manifest.yaml'), 'tasks: [bees]\n')

    const { tasks, invalid } = await place.json('task', 'list', 'tasks')

    expect(tasks.map(({ id }: { id: string }) => id)).toEqual(['ants', 'bees'])
    expect(tasks[0].sessions).toEqual([
      { id: 'tell', isFresh: true },
      { id: 'same', isFresh: false },
      { id: 'later', isFresh: true },
    ])
    expect(invalid).toEqual([])
  })

  it('reports invalid tasks', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'b.md'), taskText({ frontMatter: 'id: b' }))
    writeFileSync(join(place.work, 'a.md'), taskText({ frontMatter: 'id: a' }))
    writeFileSync(join(place.work, 'broken.md'), '---\nid: [\n---\n')
    writeFileSync(join(place.work, 'notes.md'), 'Nothing.\n')

    const { stdout, stderr, exitCode } = await place.run('task', 'list', '.')

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^id +sessions +graded +name\na +3 +hybrid +The boat\nb +3 +hybrid/)
    expect(stderr).toContain('broken.md is not a valid task; see `credence task validate broken.md`.')
  })

  it('reports an unknown task', async () => {
    using place = createSandbox()

    const { stderr, exitCode } = await place.run('task', 'list', 'no-such-task-anywhere')

    expect(exitCode).toBe(3)
    expect(stderr).toContain('There is no task "no-such-task-anywhere"')
  })
})

describe('credence task validate', () => {
  it('reports every problem with its place, and fails', async () => {
    using place = createSandbox()
    writeFileSync(
      join(place.work, 'boat.md'),
      taskText({
        frontMatter: 'grading_type: vibes\ntimeout_seconds: -1\nworkspace_files: [{ path: ../a, content: b }]',
      }),
    )

    const { stdout, exitCode } = await place.run('task', 'validate', 'boat.md')

    expect(exitCode).toBe(3)
    expect(stdout).toContain('invalid  boat.md\n')
    expect(stdout).toContain('problem: grading_type is "vibes"; it must be one of automated, llm_judge, hybrid.')
    expect(stdout).toContain('problem: timeout_seconds is -1;')
    expect(stdout).toContain('problem: workspace_files[0].path is "../a";')
    expect(stdout).toContain('1 task, 1 invalid.')
  })

  it('passes a valid task, and prints one document', async () => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'boat.md'), taskText())

    expect(await place.json('task', 'validate', 'boat.md')).toEqual({
      ok: true,
      tasks: [{ file: join(place.work, 'boat.md'), id: 'boat', problems: [], warnings: [] }],
    })
  })

  it('reports a missing asset', async () => {
    using place = createSandbox()
    writeFileSync(
      join(place.work, 'boat.md'),
      taskText({ frontMatter: 'workspace_files: [{ source: gone.csv, dest: a.csv }]' }),
    )

    const { stdout, exitCode } = await place.run('task', 'validate', 'boat.md')

    expect(exitCode).toBe(3)
    expect(stdout).toContain('workspace_files[0].source is "gone.csv"')
  })
})

describe('on a terminal', () => {
  it.each([
    ['list', '.'],
    ['validate', 'a.md', 'broken.md'],
  ])('credence task %s has colours, and fits', async (...argv) => {
    using place = createSandbox()
    writeFileSync(join(place.work, 'a.md'), taskText({ frontMatter: 'id: a\nsession: 1' }))
    writeFileSync(join(place.work, 'broken.md'), taskText({ frontMatter: 'id: "../../etc/passwd\\u0007"' }))

    const { stdout } = await place.runWith({ columns: 80 }, 'task', ...argv)

    const lines = stripVTControlCharacters(stdout).split('\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines.join('')).not.toMatch(/\[\d+m/u)
  })
})
