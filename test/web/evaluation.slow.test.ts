import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSnapshot } from '../../src/eval/gate/baselines.ts'
import type { RouteAnswer } from '../../src/http/api/contract.ts'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('the pages of evaluation', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    await dashboard.server.evaluate('session-drift', 'run-of-nothing', 'none')
    await dashboard.server.evaluate('session-drift', 'run-of-ours')
    await dashboard.server.evaluate('session-drift', 'run-of-ours-again')
    await createSnapshot(dashboard.server.evalRoot, {
      snapshotId: 'main',
      createdAt: '2026-01-02T03:04:05.000Z',
      sourceRootDir: 'evals',
      notes: 'the first that was right',
    })
    page = await dashboard.window('/evaluation')
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  it('lists the packs with the verdict of their latest run', async () => {
    const row = page.locator('.pack-row', { has: page.locator('a[href$="/session-drift"]') })
    await row.getByText('passed', { exact: true }).waitFor()
    await row.getByText('100 % of 12 cases').waitFor()
    await sees(page, 'Not run yet')
    // A group of many packs is collapsed.
    const redTeam = page.locator('.pack-group', { hasText: 'Red team' })
    await redTeam.getByText(/^\d+ packs, [\d,]+ cases$/).waitFor()
    expect(await redTeam.locator('.pack-row').first().isVisible()).toBe(false)
    await redTeam.locator('summary').click()
    await redTeam.locator('.pack-row').first().waitFor()
    // The latest run is the baseline.
    await sees(
      page.locator('.headline'),
      'Nothing to compare yet: 1 pack has a single run, or none since the baseline.',
    )
  })

  it('plots the metrics of a pack over its runs, with intervals and the baseline', async () => {
    await go(page, '/evaluation/packs/session-drift')
    const plot = page.locator('.plot', { hasText: 'Pass rate' })
    await plot.getByText('100 %', { exact: true }).first().waitFor()
    expect(await plot.locator('.point').count()).toBe(2)
    expect((await plot.locator('.band').getAttribute('points'))?.split(' ')).toHaveLength(4)
    expect(await plot.locator('.reference').count()).toBe(1)
    await plot.getByText(/95 %: 75\.8 % to 100 %/).waitFor()
    expect(await plot.locator('svg').getAttribute('aria-label')).toMatch(/^Pass rate: 2 values, from 100 % to 100 %$/)
    await plot.locator('svg').hover({ position: { x: 70, y: 60 } })
    await plot.locator('.point.chosen').waitFor()

    await page.getByLabel('System', { exact: true }).selectOption('none')
    // A single run is shown as numbers, not as a plot.
    await page
      .locator('.figures > div', { hasText: 'Pass rate' })
      .getByText(/^95 %: /)
      .waitFor()
    expect(await plot.count()).toBe(0)
  })

  it('shows a run with its cases, filters them, and explains one', async () => {
    await go(page, '/evaluation/runs/run-of-nothing')
    await sees(page, 'Cases passed')
    const rows = page.locator('.case-row')
    await rows.first().waitFor()
    await page.getByLabel('Verdict').selectOption('fail')
    await eventually(() => new URL(page.url()).search).toBe('?verdict=fail')
    await eventually(() => rows.getByText('pass', { exact: true }).count()).toBe(0)
    await page.getByLabel('Filter cases').fill('no case has these words')
    await sees(page, 'No case matches.')

    await go(page, '/evaluation/runs/run-of-ours')
    await rows.first().locator('a').click()
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    await page.locator('.asked').waitFor()
    await page.locator('.compared').getByRole('heading', { name: 'Got' }).waitFor()
    await page.getByText('Explanation: how each result was found').click()
    await page.locator('table tbody tr').first().waitFor()
    await sees(page.locator('.explanation'), 'Matches')
    const address = page.url()
    await page.reload()
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    expect(page.url()).toBe(address)
  })

  it('compares two runs side by side, with broken and fixed cases', async () => {
    await go(page, '/evaluation/runs')
    await page.getByLabel('Compare run-of-nothing').check()
    expect(await page.getByRole('button', { name: 'Compare', exact: true }).isDisabled()).toBe(true)
    await page.getByLabel('Compare run-of-ours', { exact: true }).check()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    const fixed = page.getByRole('region', { name: 'Fixed' })
    await fixed.locator('.case-row').first().waitFor()
    const count = await fixed.locator('.case-row').count()
    // For runs of two systems, the page shows a note and compares no figures.
    await page.locator('.note').first().waitFor()
    expect(await page.getByRole('heading', { name: 'Figures' }).count()).toBe(0)

    await page.getByRole('button', { name: 'Swap' }).click()
    const broken = page.getByRole('region', { name: 'Broken' })
    await broken.locator('.case-row').first().waitFor()
    expect(await broken.locator('.case-row').count()).toBe(count)

    await go(page, '/evaluation/compare?before=run-of-ours&after=run-of-ours-again')
    await page.locator('tr', { hasText: 'Pass rate' }).getByText('same').waitFor()
    await sees(broken, 'None.')
    await sees(page, '12 cases unchanged.')
  })

  it('shows live recalls as numbers, and the baselines', async () => {
    await go(page, '/evaluation/live')
    await sees(page.locator('.plot', { hasText: 'Recalls by day' }), 'found nothing')
    expect(new URL(page.url()).pathname).toBe('/status')
    expect(await page.locator('.plot', { hasText: 'Recalls by day' }).locator('rect').count()).toBeGreaterThan(0)
    await go(page, '/evaluation/baselines')
    expect(new URL(page.url()).pathname).toBe('/evaluation')
    await page.getByRole('heading', { name: 'Baseline main' }).waitFor()
    await sees(page, 'the first that was right')
    await page.locator('td', { hasText: '100 %' }).first().waitFor()
  })

  it('reports missing items', async () => {
    await go(page, '/evaluation/runs/no-such-run')
    await page.getByRole('alert').getByText('no-such-run').waitFor()
    await page.getByRole('link', { name: 'See all packs' }).waitFor()
    await go(page, '/evaluation/packs/no-such-pack')
    await page.getByRole('alert').getByText('no-such-pack').waitFor()
    await go(page, '/evaluation/nowhere')
    await sees(page, 'There is no such page')
  })

  it('runs a pack on request, and shows when it ends', async () => {
    await go(page, '/evaluation')
    await page.getByRole('button', { name: 'Run session-drift' }).click()
    await sees(page, /Running session-drift as /)
    await go(page, '/evaluation/packs/session-drift')
    await eventually(() => page.locator('.plot', { hasText: 'Pass rate' }).locator('.point').count()).toBe(3)
  })

  it('counts as unchanged only compared packs, and those with one run separately', async () => {
    const headline = page.locator('.headline')
    await go(page, '/evaluation')
    await sees(headline, 'Nothing got worse: 1 pack is at least as good as the baseline or the run before.')
    expect(await headline.textContent()).not.toContain('other pack')

    await dashboard.server.evaluate('retrieval-hard', 'the-only-run')
    await page.reload()
    await sees(headline, /1 pack is at least as good .* 1 other pack has nothing to compare with yet\./)
  })

  it('shows what got worse than the baseline, on Evaluation and on Home, with links to the cases', async () => {
    await dashboard.server.evaluate('session-drift', 'run-that-broke', 'none', 'bm25')
    const broken = (await dashboard.server.ofRun('run-that-broke')).filter(({ verdict }) => verdict !== 'pass').length
    expect(broken).toBeGreaterThan(0)

    await page.reload()
    const headline = page.locator('.headline.worse')
    await sees(headline, new RegExp(`^Worse than baseline main: ${broken} of 12 cases broke on `))
    await headline.getByRole('link', { name: 'The run that broke it' }).click()
    await eventually(() => new URL(page.url()).pathname).toBe('/evaluation/runs/run-that-broke')
    await go(page, '/')
    await sees(page.getByRole('region', { name: 'Last regression' }), `${broken} of 12 cases broke`)
    await go(page, '/evaluation')
    await headline.getByRole('link', { name: 'Compare with the baseline' }).click()
    const cases = page.getByRole('region', { name: 'Broken' }).locator('.case-row')
    await eventually(() => cases.count()).toBe(broken)
    const { prompt } = (await dashboard.server.ofRun('run-that-broke')).find(({ verdict }) => verdict !== 'pass') ?? {}
    await sees(cases.first(), String(prompt))
    // Failures contain names of beliefs instead of ids.
    expect(await cases.first().textContent()).not.toMatch(/\b(?:gdn|bnd)-/)
    await sees(page.locator('tr', { hasText: 'Pass rate' }), /^−[\d.]+ points$/)
  })

  it('shows a task as a chat, its sessions in order, with told facts marked, and a check next to each answer', async () => {
    const { dir } = dashboard.server
    const argv = ['task', 'run', 'second-brain', '--agent', 'reference', '--run-id', 'a-task', '--dir', dir]
    await promisify(execFile)(process.execPath, ['bin/credence.js', ...argv])
    await go(page, '/evaluation/runs/a-task')
    await page.locator('.case-row a').first().click()

    const sessions = page.locator('section.chat')
    await sees(sessions, 'Session 1: store')
    expect(await sessions.count()).toBe(3)
    const last = page.getByRole('region', { name: 'Session recall' })
    await sees(last, 'fresh')
    await sees(last.locator('.bubble.user'), 'Which programming language is my favorite?')
    await last.locator('.bubble.assistant mark', { hasText: 'Rust' }).waitFor()
    const check = last.locator('.checks li', { hasText: 'language' })
    await sees(check, 'found')
    await sees(check, /expected .*Rust/)
    await page
      .getByRole('region', { name: 'Session store' })
      .locator('.bubble.user mark', { hasText: 'Rust' })
      .waitFor()
  })

  it('shows for a failed task the missing answers, and each check once', async () => {
    const { dir } = dashboard.server
    const argv = ['task', 'run', 'second-brain-correction', '--agent', 'none', '--run-id', 'no-task', '--dir', dir]
    // The command fails, because cases of the run fail.
    await promisify(execFile)(process.execPath, ['bin/credence.js', ...argv]).catch(() => undefined)
    await go(page, '/evaluation/runs/no-task')
    await page.locator('.case-row a').first().click()

    await sees(page.getByRole('region', { name: 'Session recall' }).locator('.bubble.assistant'), '(no answer)')
    const others = page.getByRole('region', { name: 'Other checks' })
    await sees(others, /^0 of \d+ passed$/)
    await others.locator('li', { hasText: 'Stored city' }).getByText('failed').waitFor()
    expect(await page.locator('.note.bad').count()).toBe(0)
  })

  it('shows the turns that a question about a conversation needs, and links from the grid to its cases', async () => {
    await go(page, '/evaluation/packs/session-drift')
    await page.locator('.grid-case a').first().click()
    await page.locator('.compared').waitFor()

    const { dir, send } = dashboard.server
    const argv = ['benchmark', 'run', 'locomo', '--system', 'none', '--dir', dir]
    await promisify(execFile)(process.execPath, ['bin/credence.js', ...argv]).catch(() => undefined)
    const { body } = await send<RouteAnswer<'runs'>>('GET', '/api/v1/evals/runs?benchmark=locomo')
    await go(page, `/evaluation/runs/${body.items[0]?.run.runId}/cases/sample-1-1`)
    await sees(page.locator('.asked'), 'What happened to the first bowl that Tomas made?')
    const columns = page.locator('.compared')
    await sees(columns, 'My first bowl cracked in the kiln.')
    await sees(columns, 'Nothing was returned.')
    await page.getByText('Explanation: how each result was found').click()
    await sees(page.locator('.explanation'), 'single-hop')
    await sees(page, 'Session recall@10')
  })
})
