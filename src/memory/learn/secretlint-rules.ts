/**
 * Patterns of secretlint (MIT, see docs/third-party.md), of the version 13.0.7 of its recommended preset. Written by
 * scripts/make-secretlint-rules.ts; do not edit.
 */
// biome-ignore-start format: one rule to a line
export const secretlintRules = (): readonly RegExp[] => [
  /(?:A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA)[A-Z0-9]{16}\b/u,
  /npm_[A-Za-z0-9_]{36}(?![A-Za-z0-9_])/u,
  /sk-(?:proj|svcacct|admin)-(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})T3BlbkFJ(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})\b|sk-[a-zA-Z0-9]{20}T3BlbkFJ[a-zA-Z0-9]{20}/u,
  /sk-ant-api0\d-[A-Za-z0-9_-]{90,128}AA(?![A-Za-z0-9_-])/u,
  /gsk_[a-zA-Z0-9]{52}(?![a-zA-Z0-9])/u,
  /hf_[a-zA-Z]{34}(?![a-zA-Z])/u,
  /lin_api_[a-zA-Z0-9_]{32,128}(?![a-zA-Z0-9_])/u,
  /ntn_[0-9]{11}[A-Za-z0-9]{35}(?![A-Za-z0-9])/u,
  /(?:shppa|shpca|shpat|shpss)_[a-zA-Z0-9]{32,64}(?![a-zA-Z0-9])/u,
  /(?:sk_live|sk_test|rk_live|rk_test)_[a-zA-Z0-9]{24,99}(?![a-zA-Z0-9])/u,
  /(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_]{36}(?![A-Za-z0-9_])/u,
  /(?:github_pat)_[A-Za-z0-9_]{82}(?![A-Za-z0-9_])/u,
  /glpat-[A-Za-z0-9_-]{20,128}(?![A-Za-z0-9_-])/u,
  /glc_[A-Za-z0-9+/]{32,400}={0,2}(?![A-Za-z0-9+/=])/u,
  /glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}(?![A-Fa-f0-9])/u,
  /ops_(?:ey[A-Za-z0-9+/=]{100,1280}fQ={0,2})(?![A-Za-z0-9+/=])/u,
  /hvs\.[A-Za-z0-9_-]{90,120}(?![A-Za-z0-9_-])/u,
  /hvb\.[A-Za-z0-9_-]{138,300}(?![A-Za-z0-9_-])/u,
  /hvr\.[A-Za-z0-9_-]{90,120}(?![A-Za-z0-9_-])/u,
  /(?:vcp|vci|vca|vcr|vck)_[A-Za-z0-9]{20,60}(?![A-Za-z0-9])/u,
  /dapi[A-Fa-f0-9]{32}(?:-[0-9])?(?![A-Fa-f0-9])/u,
  /dckr_pat_[a-zA-Z0-9_-]{27}(?![a-zA-Z0-9_-])/u,
  /figd_[A-Za-z0-9_-]{40,200}(?![A-Za-z0-9_-])/u,
  /(?:cfk|cfut|cfat)_[A-Za-z0-9]{40}[0-9a-f]{8}(?![A-Za-z0-9])/u,
  /tskey-(?:[a-z]{2,20})-[0-9A-Za-z_]{8,40}-[0-9A-Za-z_]{16,60}(?![0-9A-Za-z_])/u,
]
// biome-ignore-end format: one rule to a line
