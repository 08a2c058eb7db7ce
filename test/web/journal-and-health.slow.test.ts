import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser } from './browser.ts'
import { type Dashboard, eventually, go, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('the pages of journal and health', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    page = await dashboard.window('/journal')
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const row = (words: string) => page.locator('.journal-row', { hasText: words }).first()

  it('shows who changed what, live, and undoes it', async () => {
    await dashboard
      .memoryAs({ actor: 'agent', origin: 'some-agent' })
      .remember({ name: 'what an agent said', content: 'Something.', scopes: ['project:ledger'] })
    await row('The agent some-agent stored “what an agent said”').waitFor()
    await row('what an agent said')
      .getByRole('button', { name: /^Undo change/ })
      .click()
    await sees(page, 'Undone.')
    await expect(dashboard.memoryAs().get('what an agent said')).rejects.toThrow()
    await row('Undone by change').waitFor()
    const text = (await row('Undone by change').locator('.journal-text p').first().textContent()) ?? ''
    expect(text).toMatch(/^The agent some-agent stored a withdrawn belief\. Undone by change \d+\.$/)
    await row('You undid change')
      .getByText(/^You undid change \d+ of a withdrawn belief in the dashboard\.$/)
      .waitFor()
  })

  it('shows which change was undone if it names no belief', async () => {
    await page.route('**/api/v1/journal?*', async (route) => {
      const response = await route.fetch()
      const { items } = await response.json()
      const nothing = { beliefIds: [], beliefCount: 0, turnCount: 0 }
      const undoing = { kind: 'undo', actor: 'person', origin: 'cli', undoes: 27, undoneBy: null }
      const event = { ...items[0].event, ...undoing, ...nothing }
      await route.fulfill({ response, json: { items: [{ event, names: {}, gone: {} }], nextBefore: null } })
    })
    await page.reload()
    await page.getByText(/^You undid change 27 on the command line\.$/).waitFor()
    await page.unrouteAll()
    await page.reload()
  })

  it('shows what was learned from a conversation, and how much of one was forgotten', async () => {
    const memory = dashboard.memoryAs()
    await memory.hear([
      { text: 'Remember that the harbour code is 4711.', session: 'harbour' },
      { text: 'The boat is green.', session: 'harbour' },
    ])
    await row('You stored').waitFor()
    await memory.forgetTurns({ session: 'harbour' })
    await row('You forgot 2 turns of conversation through elsewhere').waitFor()
  })

  it('compares a correction with the replaced belief, and filters by every kind of change', async () => {
    const memory = dashboard.memoryAs()
    await memory.remember({ name: 'ferry', content: 'The ferry leaves at nine.' })
    await memory.correct('ferry', { content: 'The ferry leaves at ten.' })
    const change = row('You corrected “ferry”')
    await change.getByText('What changed').click()
    await change.locator('del', { hasText: 'nine' }).waitFor()
    await change.locator('ins', { hasText: 'ten' }).waitFor()
    expect(await change.locator('.word-diff').allTextContents()).toHaveLength(1)

    const agent = dashboard.memoryAs({ actor: 'agent', origin: 'some-agent' })
    await agent.correct('ferry', { content: 'The ferry leaves at noon.' })
    const proposal = row('The agent some-agent proposed')
    await proposal.getByText('What changed').click()
    await proposal.locator('del', { hasText: 'ten' }).waitFor()
    await proposal.locator('ins', { hasText: 'noon' }).waitFor()
    await proposal.getByText('Proposed for ferry').waitFor()

    await page.getByLabel('Kind of change').selectOption('learn')
    await page.locator('.journal-row', { hasText: 'ferry' }).first().waitFor({ state: 'detached' })
    await row('You stored').waitFor()
    await page.getByLabel('Kind of change').selectOption('')
    await row('You corrected “ferry”').waitFor()
  })

  it('explains why a change cannot be undone', async () => {
    const memory = dashboard.memoryAs()
    const { event } = await memory.remember({ name: 'changed twice', content: 'First.' })
    await memory.correct('changed twice', { content: 'Second.' })
    await page.getByRole('button', { name: `Undo change ${event}`, exact: true }).click()
    await page.locator('.toast.failed', { hasText: 'changed again' }).waitFor()
  })

  it('loads older changes down to the first one', async () => {
    const memory = dashboard.memoryAs()
    for (let at = 0; at < 60; at += 1) await memory.remember({ name: `entry ${at}`, content: 'One of many.' })
    await row('entry 59').waitFor()
    await page.getByRole('button', { name: 'Show older changes' }).click()
    await sees(page, 'This is the first change.')
    const numbers = (await page.locator('.journal-number').allTextContents()).map(Number)
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a))
    expect(numbers.at(-1)).toBe(1)

    await memory.remember({ name: 'one more', content: 'While older ones are shown.' })
    await row('one more').waitFor()
    await eventually(() => page.locator('.journal-row').count()).toBe(numbers.length + 1)
  })

  it('shows the findings of the doctor, and the contents of the memory', async () => {
    await go(page, '/health')
    await page.getByRole('region', { name: 'Checks' }).getByText('all passed', { exact: true }).waitFor()
    expect(await page.locator('.finding').count()).toBeGreaterThan(4)
    expect(await page.locator('.finding.bad').count()).toBe(0)
    await sees(page.getByRole('region', { name: 'Where it is stored' }), 'credence.db')
    await page.locator('.figures', { hasText: 'Current beliefs' }).waitFor()
  })

  it('shows the progress of a check that another program runs', async () => {
    const argv = ['bin/credence.js', 'doctor', '--json', '--dir', dashboard.server.dir]
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const steps: { readonly done: number; readonly total: number }[] = []
    child.on('message', ({ progress }: { progress: (typeof steps)[number] }) => steps.push(progress))
    await once(child, 'close')
    expect(steps.length).toBeGreaterThan(0)
    expect(steps.every(({ done, total }) => done >= 0 && done <= total)).toBe(true)
  })

  it('syncs MEMORY.md and the store', async () => {
    await go(page, '/health')
    const mirror = page.getByRole('region', { name: 'MEMORY.md' })
    await mirror.getByRole('button', { name: 'Sync' }).click()
    await sees(page, 'MEMORY.md and the store are in sync.')
    await mirror.getByText('in sync').waitFor()
    await mirror.getByText('MEMORY.md', { exact: false }).first().waitFor()
  })
})
