import { randomBytes } from 'node:crypto'
import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { openMemoryStore } from '../../store/memory-store.ts'
import { loadPack } from '../kinds/retrieval/pack.ts'
import { bm25System } from '../system/bm25.ts'
import { everythingSystem } from '../system/controls.ts'
import { systemSubject } from '../system/subject.ts'
import type { System } from '../system/system.ts'
import { jaccard, logQuery, rankBiasedOverlap, rankChurn, readQueries, replayQueries } from './replay.ts'

const ranking = fc.uniqueArray(fc.constantFrom(...'abcdefghij'), { maxLength: 10 })

describe('the likeness of two rankings', () => {
  it('is 1 for the same, 0 for disjoint ones, and the same both ways', () => {
    fc.assert(
      fc.property(ranking, ranking, (one, other) => {
        const likeness = rankBiasedOverlap(one, other)

        expect(rankBiasedOverlap(one, one)).toBeCloseTo(1, 12)
        expect(likeness).toBeCloseTo(rankBiasedOverlap(other, one), 12)
        expect(likeness).toBeGreaterThanOrEqual(0)
        expect(likeness).toBeLessThanOrEqual(1)
        if (jaccard(one, other) === 0) expect(likeness).toBe(0)
        if (likeness > 1 - 1e-12) expect(one).toEqual(other)
      }),
    )
  })

  it('weighs the top most', () => {
    const topSwapped = rankBiasedOverlap(['a', 'b', 'c', 'd'], ['b', 'a', 'c', 'd'])
    const endSwapped = rankBiasedOverlap(['a', 'b', 'c', 'd'], ['a', 'b', 'd', 'c'])

    expect(topSwapped).toBeLessThan(endSwapped)
    expect(endSwapped).toBeLessThan(1)
  })

  it('says how far shared ids moved', () => {
    expect(rankChurn(['a', 'b', 'c'], ['c', 'b', 'a'])).toBeCloseTo(4 / 3)
    expect(rankChurn(['a'], ['b'])).toBeNull()
    expect(jaccard([], [])).toBe(1)
    expect(jaccard(['a', 'b'], ['b', 'c'])).toBeCloseTo(1 / 3)
  })
})

describe('the query log', () => {
  it('keeps queries in order, for its owner alone', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'queries.jsonl')
    const query = (message: string) => ({
      at: '2026-03-06T10:00:00.000Z',
      user: 'local',
      scopes: ['domain:a'],
      message,
    })

    await logQuery(path, query('one\nline'))
    await logQuery(path, query('two'))
    appendFileSync(path, 'torn')

    expect(await readQueries(path)).toEqual({ queries: [query('one\nline'), query('two')], unreadable: 1 })
    expect(await readQueries(join(directory.path, 'none'))).toBeNull()
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('a replay', () => {
  const { pack } = loadPack(new URL('../../../packs/retrieval-precision', import.meta.url).pathname)
  const ours = () => bm25System({ openStore: () => openMemoryStore({ random: randomBytes }), version: '1' })
  const subjectOf = (system: System) => systemSubject(system, { ours, clock: () => 0 })
  const queries = (pack.kind === 'retrieval' ? pack.cases : []).map(({ user, scopes, message }) => ({
    at: '2026-03-06T10:00:00.000Z',
    user,
    scopes: [...scopes],
    message,
  }))

  it('finds a system to be like itself', async () => {
    const report = await replayQueries({
      beliefs: pack.beliefs,
      queries,
      base: subjectOf(ours()),
      candidate: subjectOf(ours()),
    })

    expect(report).toMatchObject({ queries: 60, errors: 0, identical: 60, meanOverlap: 1, mostChanged: [] })
    expect(report.meanRankOverlap).toBeCloseTo(1, 9)
  })

  it('shows how far another system is from it, without a word of what was asked', async () => {
    const report = await replayQueries({
      beliefs: pack.beliefs,
      queries,
      base: subjectOf(ours()),
      candidate: subjectOf(everythingSystem()),
    })

    expect(report.meanOverlap).toBeLessThan(0.5)
    expect(report.contextChars.candidate).toBeGreaterThan(report.contextChars.base ?? 0)
    expect(report.mostChanged.length).toBeGreaterThan(0)
    expect(JSON.stringify(report)).not.toContain('levain')
  })

  it('counts a query that broke as an error', async () => {
    const broken = { ...ours(), recall: () => Promise.reject(new Error('no answer')) }

    const report = await replayQueries({
      beliefs: pack.beliefs,
      queries: queries.slice(0, 3),
      base: subjectOf(ours()),
      candidate: subjectOf(broken),
    })

    expect(report).toMatchObject({ queries: 3, errors: 3, meanOverlap: null })
  })
})
