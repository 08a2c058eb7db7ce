import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser } from './browser.ts'
import { type Dashboard, go, openTestDashboard, sees } from './test-dashboard.ts'

describe.skipIf(noBrowser !== null)('the page of recall', () => {
  let dashboard: Dashboard
  let page: Page
  beforeAll(async () => {
    dashboard = await openTestDashboard()
    page = await dashboard.window('/recall', { permissions: ['clipboard-read', 'clipboard-write'] })
  })
  afterAll(() => dashboard[Symbol.asyncDispose]())
  afterEach(() => expect(dashboard.problems.splice(0)).toEqual([]))

  const asked = async (message: string): Promise<void> => {
    // From the last to the first, because dismissing a toast moves those after it.
    for (const toast of (await page.getByRole('button', { name: 'Dismiss' }).all()).reverse()) await toast.click()
    await go(page, '/recall')
    // Until the answer comes, the page shows the answer to the previous message.
    const answer = page.waitForResponse(
      (response) =>
        response.url().endsWith('/api/v1/recall') &&
        response.request().postData()?.includes(JSON.stringify(message)) === true,
    )
    await page.getByRole('textbox', { name: 'Message' }).fill(message)
    await (await answer).finished()
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  }
  const tier = (name: string) =>
    page.locator('section.panel', { has: page.getByRole('heading', { name, level: 2, exact: true }) })
  const named = (name: string) => tier('Relevant to this message').locator('.recalled-name', { hasText: name })
  const remedies = (name: string) => page.getByRole('dialog', { name })

  it('marks the words that named a belief, and shows the score with its clauses and every number in it', async () => {
    await asked('Is postgress the database for the invoices?')
    const card = tier('Relevant to this message').locator('.recalled', { hasText: 'Postgres' })
    await card.waitFor()
    await page.locator('.message-back mark', { hasText: 'postgress' }).waitFor()
    await page.locator('.message-back mark', { hasText: 'the database' }).waitFor()
    expect(await page.locator('.message-back').textContent()).toContain('Is postgress the database for the invoices?')
    await sees(page, '“postgress” was read as “postgres”')

    await card.getByText('Details: score and numbers').click()
    await sees(card, 'You wrote “postgress”, taken for a typo of “Postgres”, its name.')
    const numbers = await card.locator('.tree > li > .row > b, .tree > li > ul > li > .row > b').allTextContents()
    const [total = Number.NaN, ...parts] = numbers.map(Number)
    expect(parts).toHaveLength(2)
    expect(parts.reduce((a, b) => a + b)).toBeCloseTo(total, 1)
    expect(page.url()).not.toContain('postgress')
  })

  it('quotes earlier turns, with day, speaker and the reason in words', async () => {
    await dashboard.memoryAs().hear([
      { text: 'The trampoline arrives at Okonkwo gardens in August.', at: '2026-04-02T10:00:00Z', session: 'april' },
      { text: 'The trampoline arrives at Okonkwo gardens in September.', at: '2026-05-02T10:00:00Z', session: 'may' },
    ])
    await asked('When does the trampoline arrive at Okonkwo gardens?')

    const quotes = tier('Said earlier').locator('.recalled')
    await quotes
      .filter({ hasText: 'in September.' })
      .getByText(/^You said on/i)
      .waitFor()
    await quotes.filter({ hasText: 'in August.' }).getByText('earlier', { exact: true }).waitFor()
    expect(await quotes.first().textContent()).toContain('in September.')
    expect(await quotes.first().locator('time').getAttribute('datetime')).toBe('2026-05-02T10:00:00.000Z')
    await sees(quotes.first(), /It contains (all \d|\d of the \d) words that you asked about: “.*trampoline.*”/)
    await sees(page, /and 2 quotes in/)
    // Only a search shows how strongly a quote matches.
    expect(await quotes.getByText(/^(strong|possible)$/).count()).toBe(0)
    await sees(page, 'The message names no belief. The lines below match it.')

    const june = 'The harpsichord tuner visits Okonkwo hall in June.'
    await dashboard.memoryAs().hear([{ text: june, at: '2026-05-03T10:00:00Z', session: 'june', speaker: 'Ben' }])
    await asked('When does the harpsichord tuner visit Okonkwo hall?')
    // What another person said is shown only under "Perhaps relevant".
    const perhaps = tier('Perhaps relevant').locator('.recalled', { hasText: 'in June.' })
    await perhaps.getByText('Ben said on').waitFor()

    await perhaps.getByRole('button', { name: /^Useful: / }).click()
    await sees(page, 'In total: 1 useful, 0 not useful.')
    await perhaps.getByRole('button', { name: /^Not useful: / }).click()
    await sees(page, 'In total: 1 useful, 1 not useful.')
  })

  it('shows what was left out and why, and finds it when its scope is in view', async () => {
    await asked('What is the colour palette?')
    const left = tier('Left out').locator('.recalled', { hasText: 'colour palette' })
    await left.getByText('Its scope project:website is not in view.').waitFor()

    await page.locator('.chip', { hasText: 'project:website' }).click()
    await named('colour palette').waitFor()
    for (const scope of ['project:ledger', 'user:universal', 'project:website'])
      await page.locator('.chip', { hasText: scope }).click()
    await sees(page, 'No scope is in view')
    await page.getByRole('button', { name: 'Reset' }).click()
    await tier('Left out').waitFor()
  })

  it('copies the block that the agent reads', async () => {
    await asked('Where is Redis?')
    await page.locator('.rendered', { hasText: 'Redis' }).waitFor()
    await page.getByRole('button', { name: 'Copy' }).click()
    await sees(page, 'Copied')
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).toBe(await page.locator('.rendered').textContent())
    expect(copied).toContain('<memory>')
  })

  it('removes a wrong belief with one click, and captures the case', async () => {
    await dashboard.memoryAs().remember({
      name: 'tax form',
      content: 'Goes out in May.',
      aliases: ['report'],
      scopes: ['project:ledger'],
    })
    await asked('Did you send the report?')
    await page.getByRole('button', { name: 'Should not be here: tax form' }).click()
    const dialog = remedies('This should not be here')
    const remedy = dialog.locator('.remedy', { hasText: 'report' }).first()
    await remedy.getByText('tried out: it works').waitFor()
    await remedy.getByRole('button', { name: 'Apply' }).click()

    await sees(page, /Recall is correct now\. Saved as /)
    await named('tax form').waitFor({ state: 'detached' })
    expect((await dashboard.memoryAs().get('tax form')).aliases).toEqual([])
    await go(page, '/evaluation')
    await page.locator('.pack-row a[href$="/my-cases"]').waitFor()
  })

  it('adds a missing belief, by a name that the person chooses', async () => {
    await dashboard
      .memoryAs()
      .remember({ name: 'holiday plan', content: 'Two weeks in August.', scopes: ['project:ledger'] })
    await asked('When am I away?')
    await sees(page, 'The message names no belief in these scopes.')
    await page.getByRole('button', { name: 'Something is missing' }).click()
    await page.getByLabel('Search everything that is remembered').fill('holiday')
    await page.locator('.choice', { hasText: 'holiday plan' }).click()
    const dialog = remedies('This is missing')
    await dialog.getByLabel('Try another name').fill('am I away')
    await dialog.getByRole('button', { name: 'Try it' }).click()
    const remedy = dialog.locator('.remedy', { hasText: 'am I away' }).first()
    await remedy.getByRole('button', { name: 'Apply' }).click()

    await named('holiday plan').waitFor()
    await page
      .locator('.toast', { hasText: 'Recall is correct now.' })
      .last()
      .getByRole('button', { name: 'Undo' })
      .click()
    await named('holiday plan').waitFor({ state: 'detached' })
    expect((await dashboard.memoryAs().get('holiday plan')).aliases).toEqual([])
  })

  it('can capture the case without a change', async () => {
    await asked('Am I on leave?')
    await sees(page, 'The message names no belief in these scopes.')
    await page.getByRole('button', { name: 'Something is missing' }).click()
    await page.locator('.choice', { hasText: 'holiday plan' }).click()
    await remedies('This is missing').getByRole('button', { name: 'Only save the case' }).click()
    await sees(page, /Saved as the case .* It fails today/)
  })

  it('offers the scope of a belief that is left out', async () => {
    await asked('What is the colour palette?')
    await page.getByRole('button', { name: 'Should be here: colour palette' }).click()
    const dialog = remedies('This is missing')
    await dialog.getByRole('button', { name: 'Use these scopes' }).first().click()
    await named('colour palette').waitFor()
    await page.getByRole('button', { name: 'Reset' }).click()
  })

  it('notices a change elsewhere, and answers again', async () => {
    await asked('Where does the brand new service run?')
    await sees(page, 'The message names no belief in these scopes.')
    await dashboard.memoryAs().remember({ name: 'brand new service', content: 'It runs in Frankfurt.' })
    await tier('Relevant to this message').getByText('It runs in Frankfurt.').waitFor()
  })
})
