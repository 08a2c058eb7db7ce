import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { figure, milliseconds, percent, signedFigure } from '../../web/src/format/numbers.ts'
import { cutAtRanges, wordParts } from '../../web/src/format/text.ts'
import {
  clockOf,
  dateTimeText,
  dayOf,
  daysBetween,
  endOfDay,
  namedDay,
  rangeLabels,
  relativeTime,
  shortDay,
} from '../../web/src/format/time.ts'
import { address, findMovedPath, match } from '../../web/src/navigation/match.ts'
import { mergeRows } from '../../web/src/pages/beliefs/merge-rows.ts'
import { failureWords, metricName } from '../../web/src/pages/evaluation/words.ts'

const zone = process.env.TZ
afterEach(() => {
  process.env.TZ = zone
})

describe('a text with marked ranges', () => {
  const stretch = fc.record({ start: fc.integer({ min: -3, max: 40 }), end: fc.integer({ min: -3, max: 40 }) })

  it('equals the original text when its parts are joined, for any ranges', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), fc.array(stretch), (text, ranges) => {
        const cut = cutAtRanges(text, ranges)

        expect(cut.map(({ words }) => words).join('')).toBe(text)
        for (const { words, isMarked, start } of cut) {
          const isInside = ranges.some((one) => one.start <= start && start + words.length <= one.end)
          if (isMarked) expect(isInside).toBe(true)
        }
      }),
    )
  })

  it('marks exactly the given range', () => {
    expect(cutAtRanges('ask Maria now', [{ start: 4, end: 9 }])).toEqual([
      { words: 'ask ', isMarked: false, start: 0 },
      { words: 'Maria', isMarked: true, start: 4 },
      { words: ' now', isMarked: false, start: 9 },
    ])
  })
})

describe('a list that changes while it is shown', () => {
  const rows = (ids: readonly number[]) => ids.map((id) => ({ belief: { id: String(id) } }))
  const ids = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 20 })

  it('shows all current items, and never changes the order of the remaining ones', () => {
    fc.assert(
      fc.property(ids, ids, (before, fresh) => {
        const shown = mergeRows(rows(before), rows(fresh)).map(({ belief }) => Number(belief.id))

        expect(shown.toSorted()).toEqual(fresh.toSorted())
        expect(shown.filter((id) => before.includes(id))).toEqual(before.filter((id) => fresh.includes(id)))
      }),
    )
  })

  it('adds new items at the top, and newly loaded ones at the end', () => {
    const shown = mergeRows(rows([1, 2, 3]), rows([9, 2, 1, 7, 8])).map(({ belief }) => Number(belief.id))

    expect(shown).toEqual([9, 1, 2, 7, 8])
  })
})

describe('addresses', () => {
  it('parse into the parts they were built from', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ minLength: 1 }), (run, one) => {
        expect(match('/evaluation/runs/:id/cases/:caseId', address('evaluation', 'runs', run, 'cases', one))).toEqual({
          id: run,
          caseId: one,
        })
      }),
    )
  })

  it('that are invalid or of another form match nothing', () => {
    expect(match('/beliefs/:id', '/beliefs/%E0%A4%A')).toBeNull()
    expect(match('/beliefs/:id', '/beliefs/')).toBeNull()
    expect(match('/beliefs/:id', '/beliefs/a/b')).toBeNull()
    expect(match('/beliefs/:id', '/recall/a')).toBeNull()
  })
})

describe('figures', () => {
  it('are never rounded to a misleading value', () => {
    expect(percent(1)).toBe('100 %')
    expect(percent(0.9999)).toBe('99.9 %')
    expect(percent(0.5)).toBe('50 %')
    expect(figure(0.00001)).toBe('~0')
    expect(figure(1.5)).toBe('1.5')
    expect(figure(Number.NaN)).toBe('–')
    expect(signedFigure(-0.25)).toBe('−0.25')
    expect(signedFigure(3)).toBe('+3')
    expect(milliseconds(0.1234)).toBe('0.12 ms')
    expect(milliseconds(2500)).toBe('2.5 s')
    expect(milliseconds(50)).toBe('50 ms')
    expect(milliseconds(100)).toBe('100 ms')
    expect(milliseconds(0)).toBe('0 ms')
  })

  it('show how long ago something happened', () => {
    const now = Date.parse('2026-03-06T12:00:00.000Z')

    expect(relativeTime('2026-03-06T11:59:58.000Z', now)).toBe('just now')
    expect(relativeTime('2026-03-06T11:30:00.000Z', now)).toBe('30 minutes ago')
    expect(relativeTime('2026-03-05T12:00:00.000Z', now)).toBe('yesterday')
    expect(relativeTime('2025-12-01T12:00:00.000Z', now)).toBe('Dec 1, 2025')
    expect(relativeTime('no time at all', now)).toBe('no time at all')
    expect(relativeTime('2026-03-06T11:00:20.000Z', now)).toBe('1 hour ago')
    expect(relativeTime('2026-02-01T12:00:00.000Z', now)).toBe('Feb 1')
  })

  it('name a day by the reader’s calendar, in any time zone', () => {
    expect(dayOf('2026-03-06')).toBe('Mar 6, 2026')
    const now = new Date(2026, 2, 6, 12).getTime()
    expect(namedDay(new Date(2026, 2, 6, 1).toISOString(), null, now)).toBe('Today, Mar 6')
    expect(namedDay(new Date(2026, 2, 5, 23).toISOString(), null, now)).toBe('Yesterday, Mar 5')
    expect(namedDay(new Date(2025, 2, 5).toISOString(), null, now)).toBe('Mar 5, 2025')
  })

  it('name the day and the minute in the UTC offset of a turn', () => {
    const at = '2026-03-06T00:15:00.000Z'

    expect(dayOf(at, -240)).toBe('Mar 5, 2026')
    expect(dateTimeText(at, 330)).toBe('Mar 6, 2026, 05:45')
    expect(clockOf(at, -240)).toBe('20:15')
    expect(namedDay(at, -240, new Date(2026, 2, 6, 12).getTime())).toBe('Yesterday, Mar 5')
    expect(shortDay('2026-01-01T00:15:00.000Z', -240, Date.parse('2026-03-06T12:00:00.000Z'))).toBe('Dec 31, 2025')
  })

  it.each([
    ['UTC', '2026-05-08T23:59:59.999Z'],
    ['America/Halifax', '2026-05-09T02:59:59.999Z'],
    ['Pacific/Auckland', '2026-05-08T11:59:59.999Z'],
  ])('end a day at midnight in %s', (name, end) => {
    process.env.TZ = name

    expect(endOfDay('2026-05-08')).toBe(end)
  })

  it('name the ends of a time span by day, or by time within one day', () => {
    const at = (day: number, hour: number) => new Date(2020, 2, day, hour, 5).toISOString()
    expect(rangeLabels(at(5, 1), at(6, 1))).toEqual(['Mar 5, 2020', 'Mar 6, 2020'])
    expect(rangeLabels(at(5, 1), at(5, 13))).toEqual(['01:05', '13:05'])
    expect(rangeLabels(at(5, 1), at(5, 1))).toEqual(['Mar 5, 2020', 'Mar 5, 2020'])
  })
})

describe('two versions of a text', () => {
  const marks = (before: string, after: string) =>
    wordParts(before, after).map(({ value, added, removed }) => `${removed ? '-' : added ? '+' : ' '}${value}`)

  it('are compared word by word if they share words, and shown one after the other if not', () => {
    expect(marks('Kept in Postgres 17.', 'Kept in Postgres 18.')).toEqual([' Kept in Postgres ', '-17', '+18', ' .'])
    expect(marks('Use port 6380 in every example; 6379 is taken.', 'The licence of Redis changed in May.')).toEqual([
      '-Use port 6380 in every example; 6379 is taken.',
      '+The licence of Redis changed in May.',
    ])
    expect(marks('', 'New.')).toEqual(['+New.'])
  })

  it('are both complete, for any texts', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ maxLength: 40 }), (before, after) => {
        const parts = wordParts(before, after)
        const text = (isLeft: 'added' | 'removed') =>
          parts.flatMap((part) => (part[isLeft] ? [] : [part.value])).join('')

        expect([text('added'), text('removed')]).toEqual([before, after])
      }),
    )
  })
})

it('lists every day of a memory that is older than the plots', () => {
  const days = daysBetween('2026-01-01', '2026-06-30')

  expect([days.length, days[0], days.at(-1)]).toEqual([181, '2026-01-01', '2026-06-30'])
})

it('names metrics by the terms of the field', () => {
  expect(['retrievalPrecision', 'mrr', 'ndcg@10', 'r@5', 'session-r@10', 'stored_city'].map(metricName)).toEqual([
    'Retrieval precision',
    'MRR',
    'NDCG@10',
    'Recall@5',
    'Session recall@10',
    'Stored city',
  ])
})

describe('a failed expectation', () => {
  it('has the name of a belief instead of its id, also for a captured copy', () => {
    const names = { 'my-case-1a.b-2': 'redis cache' }

    expect(failureWords('relevant beliefs: my-case-1a.b-2, b-9 were expected, but not recalled.', names)).toBe(
      'Relevant beliefs: “redis cache”, b-9 were expected, but not recalled.',
    )
  })
})

describe('the address of a former page', () => {
  it.each(['/growth', '/health', '/hosts', '/hosts/', '/evaluation/live'])('%s redirects to Status', (path) => {
    expect(findMovedPath(path)).toBe('/status')
  })

  it('of runs and baselines redirects to the packs, and other addresses do not change', () => {
    expect(findMovedPath('/evaluation/runs')).toBe('/evaluation')
    expect(findMovedPath('/evaluation/baselines')).toBe('/evaluation')
    for (const path of ['/', '/status', '/evaluation/runs/a-run', '/constructor', '/beliefs/growth'])
      expect(findMovedPath(path)).toBe(null)
  })
})
