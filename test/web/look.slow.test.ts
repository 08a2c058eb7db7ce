import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSnapshot } from '../../src/eval/gate/baselines.ts'
import { noBrowser } from './browser.ts'
import { type Dashboard, go, openTestDashboard } from './test-dashboard.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe.skipIf(noBrowser !== null)('the accessibility of the dashboard', () => {
  let dashboard: Dashboard
  let places: readonly (readonly [path: string, ready: string])[]
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    await dashboard.server.evaluate('session-drift', 'run-of-nothing', 'none')
    await dashboard.server.evaluate('session-drift', 'run-of-ours')
    await createSnapshot(dashboard.server.evalRoot, {
      snapshotId: 'main',
      createdAt: '2026-01-02T03:04:05.000Z',
      sourceRootDir: 'evals',
      notes: 'the first that was right',
    })
    const memory = dashboard.memoryAs()
    const long = `${'verylongwordwithoutanyspace'.repeat(6)} and then some`
    await memory.remember({ name: long, content: long.repeat(3), why: long, aliases: [`${long} alias`] })
    await memory.correct(long, { content: 'It has another content now.' })
    await memory.hear([
      { text: 'The harbour is closed on Mondays.', session: 'harbour' },
      {
        text: `Lock it so:\n\`\`\`sh\nlock ${'--gate=north '.repeat(20)}\n\`\`\``,
        session: 'harbour',
        role: 'assistant',
      },
    ])
    await dashboard.server.send('POST', '/api/v1/people', { body: { name: 'ana' } })
    await dashboard.server.send('POST', '/api/v1/tokens', { body: { person: 'ana' } })
    await dashboard.server.send('POST', '/api/v1/teams', { body: { name: 'platform', owner: 'ana' } })
    const { id } = await memory.get('Postgres')
    const { id: longId } = await memory.get(long)
    places = [
      ['/', '.example'],
      ['/review', '.review-card'],
      ['/conversations/harbour', '.bubble'],
      ['/conversations?q=harbour', '.found-turn'],
      ['/status', '.finding'],
      ['/people', 'section.panel table'],
      ['/beliefs', '.belief-row'],
      [`/beliefs/${id}`, '.timeline-step'],
      [`/beliefs/${longId}`, '.chain'],
      ['/recall', '.rendered'],
      ['/evaluation', '.pack-row'],
      ['/evaluation/packs/session-drift', '.figures'],
      ['/evaluation/runs/run-of-ours', '.case-row'],
      [`/evaluation/runs/run-of-ours/cases/${encodeURIComponent('watering-drift-and-return#1')}`, '.compared'],
      ['/evaluation/compare?before=run-of-nothing&after=run-of-ours', '.case-row'],
      ['/journal', '.journal-row'],
    ]
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  /** The accessibility problems that axe finds, except minor ones. */
  const barriers = async (page: Page, rules: 'all' | 'contrast'): Promise<readonly string[]> => {
    const only = rules === 'all' ? {} : { runOnly: ['color-contrast'] }
    const options = JSON.stringify({ resultTypes: ['violations'], preload: false, ...only })
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`)
    return violations
      .filter(({ impact }) => impact !== 'minor')
      .flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
      )
  }

  it.each([
    // The dark theme differs only in its colours, so only the contrast is checked.
    { width: 1440, colorScheme: 'light', rules: 'all' },
    { width: 1440, colorScheme: 'dark', rules: 'contrast' },
    { width: 360, colorScheme: 'light', rules: 'all' },
    { width: 360, colorScheme: 'dark', rules: 'contrast' },
  ] as const)(
    'has no violation on any page at $width pixels in $colorScheme',
    { timeout: 300_000 },
    async ({ width, colorScheme, rules }) => {
      const page = await dashboard.window('/beliefs', { colorScheme, viewport: { width, height: 900 } })
      await page.evaluate(axe)
      for (const [path, ready] of places) {
        await go(page, path)
        await page.locator(ready).first().waitFor({ state: 'attached' })
        expect({ path, barriers: await barriers(page, rules) }).toEqual({ path, barriers: [] })
      }
      await go(page, '/recall')
      await page.getByRole('textbox', { name: 'Message' }).fill('Is the database for the colour palette?')
      await page.getByRole('button', { name: 'Should not be here: Postgres' }).click()
      await page.locator('.remedy').first().waitFor()
      expect(await barriers(page, rules)).toEqual([])
      await page.keyboard.press('Escape')
      await go(page, '/beliefs')
      for (const [key, dialog] of [
        ['n', 'New belief'],
        ['?', 'Keyboard'],
        ['Control+k', 'Go to'],
      ] as const) {
        await page.keyboard.press(key)
        await page.getByRole('dialog').waitFor()
        expect({ dialog, barriers: await barriers(page, rules) }).toEqual({ dialog, barriers: [] })
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await go(page, '/conversations')
      await page.getByRole('button', { name: 'Forget…' }).click()
      await page.getByLabel('Everything that contains these words').fill('harbour')
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.locator('.preview li').first().waitFor()
      expect(await barriers(page, rules)).toEqual([])
      await page.context().close()
    },
  )

  it('fits into 360 pixels without horizontal scrolling, with one pane at a time', async () => {
    const page = await dashboard.window('/beliefs', { viewport: { width: 360, height: 740 } })
    for (const [path, ready] of places) {
      await go(page, path)
      await page.locator(ready).first().waitFor()
      const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect({ path, beyond }).toEqual({ path, beyond: 0 })
    }
    // A long name in the palette is cut, so that the note next to it stays visible.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Page, belief, conversation or action' }).fill('verylongword')
    const entry = page.locator('.palette-entry', { hasText: 'verylongword' }).first()
    await entry.waitFor()
    const beyondEntry = `[...document.querySelectorAll('.palette-entry')].map((one) => one.scrollWidth - one.clientWidth)`
    expect(Math.max(...(await page.evaluate<number[]>(beyondEntry)))).toBe(0)
    await page.keyboard.press('Escape')
    await go(page, '/beliefs')
    await page.locator('.belief-row', { hasText: 'Redis' }).click()
    await page.getByRole('button', { name: 'All beliefs' }).click()
    await page.locator('.belief-row', { hasText: 'Redis' }).waitFor()
    await page.context().close()
  })

  it('follows the system theme until another one is chosen, and keeps the choice', async () => {
    const page = await dashboard.window('/journal', { colorScheme: 'dark' })
    const ground = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
    const dark = await ground()
    await page.getByRole('button', { name: /^Theme: system/ }).click()
    const light = await ground()
    expect(light).not.toBe(dark)
    await page.reload()
    await page.locator('.shell').waitFor()
    expect(await ground()).toBe(light)
    await page.getByRole('button', { name: /^Theme: light/ }).click()
    expect(await ground()).toBe(dark)
    await page.context().close()
  })
})
