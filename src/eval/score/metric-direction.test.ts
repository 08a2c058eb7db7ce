import { describe, expect, it } from 'vitest'
import { metricSense } from './metric-direction.ts'

describe('the better direction of a metric', () => {
  it.each([
    'trustViolationRate',
    'p95LatencyMs',
    'latency_p50',
    'costUsd',
    'contextTokens',
    'errorRate',
    'errors',
    'attackSuccessRate',
    'benignLoss',
    'driftScore',
    'cross-scope-leaks',
  ])('is down for %s', (name) => {
    expect(metricSense(name, [])).toMatchObject({ direction: 'lower', source: 'known' })
  })

  it.each(['actionOutcomeScore', 'recallPrecisionAtK', 'creationRecoveryScore'])('is up for %s', (name) => {
    expect(metricSense(name, [])).toMatchObject({ direction: 'higher', source: 'known' })
  })

  it.each(['somethingNew', 'tokensSaved', 'errorRecoveryScore', 'mst', 'costing'])(
    'is assumed to be up for %s',
    (name) => {
      expect(metricSense(name, [])).toMatchObject({ direction: 'higher', source: 'assumed' })
    },
  )

  it('follows the declaration of the pack, not the name', () => {
    const declared = [{ name: 'costUsd', direction: 'higher' as const, minEffect: 0.5 }]

    expect(metricSense('costUsd', declared)).toEqual({
      direction: 'higher',
      source: 'declared',
      minEffect: 0.5,
      range: null,
    })
  })
})
