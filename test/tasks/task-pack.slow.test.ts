import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadTasks } from '../../src/tasks/parse/load-tasks.ts'
import { promptOf } from '../../src/tasks/task-runner.ts'
import { createSandbox } from '../cli/sandbox.ts'

/** A folder with one of the shipped tasks, as a pack. */
function onePack(directory: string): void {
  mkdirSync(directory)
  copyFileSync('packs/second-brain/second-brain.md', join(directory, 'second-brain.md'))
  const [task] = loadTasks([directory], { workingDirectory: directory, packs: [] })
  const manifest = {
    schemaVersion: 1,
    benchmarkId: 'one-task',
    title: 'One task',
    runner: 'task',
    files: { 'second-brain': 'second-brain.md' },
    ablations: ['memory off'],
    cases: [{ id: 'second-brain', prompt: task === undefined ? '' : promptOf(task) }],
  }
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest))
}

describe('a pack of tasks', () => {
  it('is run like any other pack, with its evidence next to the records', async () => {
    using place = createSandbox()
    onePack(join(place.work, 'pack'))

    const ending = await place.run('benchmark', 'run', './pack', '--system', 'none', '--evals', 'evals', '--json')

    const { runs } = JSON.parse(ending.stdout)
    expect(ending.exitCode).toBe(1)
    expect(runs).toMatchObject([
      { benchmarkId: 'one-task', status: 'completed', passedCases: 0, totalCases: 1, role: 'control' },
    ])
    const folder = join(place.work, 'evals', 'runs', runs[0].runId)
    expect(readdirSync(folder).sort()).toEqual(['cases.jsonl', 'environment.json', 'evidence', 'grades', 'lock'])
    expect(existsSync(join(folder, 'evidence/second-brain/1/evidence.json'))).toBe(true)
  })

  it('is failed by an agent whose memory is removed', async () => {
    using place = createSandbox()
    onePack(join(place.work, 'pack'))

    const argv = ['benchmark', 'run', './pack', '--ablations', '--evals', 'evals', '--json']
    const ending = await place.run(...argv)

    expect(JSON.parse(ending.stdout)).toMatchObject({
      runs: [{ system: { name: 'reference' } }, { system: { name: 'reference (memory off)' }, passedCases: 0 }],
      ablations: [{ ablation: 'memory off', whole: { passed: 1, total: 1 }, without: { passed: 0 }, problem: null }],
    })
  })

  it('that is published lists its tasks as in their files', async () => {
    using place = createSandbox()

    const ending = await place.run('benchmark', 'validate', join(process.cwd(), 'packs/second-brain'), '--json')

    expect(ending).toMatchObject({ exitCode: 0 })
    expect(JSON.parse(ending.stdout)).toMatchObject({ ok: true, pack: { totalCases: 12, runner: 'task' } })
  })
})
