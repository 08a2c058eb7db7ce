import type { Figures } from '../score/figures.ts'

/** Whether two sides measured the same thing. An obstacle forbids the comparison, a note goes with it. */
export type Comparability = { readonly obstacles: readonly string[]; readonly notes: readonly string[] }

const mostNamed = 5

/**
 * `acceptedChange` is the reason somebody gave for changing the pack. What the change explains then becomes a note, and
 * only cases of both sides are compared.
 */
export function comparability(base: Figures, candidate: Figures, acceptedChange: string | null = null): Comparability {
  const ofPack = packDifferences(base, candidate)
  const ofSystem = systemDifferences(base, candidate)
  const notes = [...ofSystem.notes, ...missingBindings(base, candidate)]
  if (acceptedChange === null || ofPack.length === 0) return { obstacles: [...ofPack, ...ofSystem.obstacles], notes }
  const accepted = ofPack.map((difference) => `${difference} Accepted: ${acceptedChange}`)
  if (base.cases !== null && candidate.cases !== null)
    return { obstacles: ofSystem.obstacles, notes: [...accepted, ...notes] }
  const impossible =
    'The change of the pack was accepted, but without case results the cases of both sides are unknown.'
  return { obstacles: [...ofPack, impossible, ...ofSystem.obstacles], notes }
}

function packDifferences(base: Figures, candidate: Figures): readonly string[] {
  const differences: string[] = []
  if (base.packHash !== null && candidate.packHash !== null && base.packHash !== candidate.packHash) {
    differences.push(`The pack changed: ${short(base.packHash)} became ${short(candidate.packHash)}.`)
  }
  if (base.cases !== null && candidate.cases !== null) {
    const [ours, theirs] = [base.cases, candidate.cases]
    const removed = [...ours.keys()].filter((id) => !theirs.has(id))
    const added = [...theirs.keys()].filter((id) => !ours.has(id))
    if (removed.length > 0) differences.push(`Cases of the base are missing (${removed.length}): ${named(removed)}.`)
    if (added.length > 0) differences.push(`Cases are not in the base (${added.length}): ${named(added)}.`)
  } else if (base.totalCases !== null && candidate.totalCases !== null && base.totalCases !== candidate.totalCases) {
    const verb = candidate.totalCases < base.totalCases ? 'shrank' : 'grew'
    differences.push(`The number of cases ${verb} from ${base.totalCases} to ${candidate.totalCases}.`)
  }
  for (const theirs of candidate.declarations) {
    const ours = base.declarations.find(({ name }) => name === theirs.name)
    if (ours !== undefined && ours.direction !== theirs.direction) {
      differences.push(`The direction of ${theirs.name} changed from ${ours.direction} to ${theirs.direction}.`)
    }
  }
  return differences
}

function systemDifferences(base: Figures, candidate: Figures): Comparability {
  const obstacles: string[] = []
  const notes: string[] = []
  if (base.system !== null && candidate.system !== null) {
    if (base.system.name !== candidate.system.name) {
      obstacles.push(`Different systems: ${base.system.name} and ${candidate.system.name}.`)
    } else if (base.system.version !== candidate.system.version) {
      notes.push(`${base.system.name} went from version ${base.system.version} to ${candidate.system.version}.`)
    }
  }
  if (base.seed !== null && candidate.seed !== null && base.seed !== candidate.seed) {
    const text = `Different seeds: ${base.seed} and ${candidate.seed}.`
    // Where nothing varies, the seed changes the order of cases at most.
    if (base.isNoisy || candidate.isNoisy) obstacles.push(text)
    else notes.push(text)
  }
  return { obstacles, notes }
}

function missingBindings(base: Figures, candidate: Figures): readonly string[] {
  if (base.packHash !== null && candidate.packHash !== null) return []
  return ['At least one side does not say which content of the pack it was run on.']
}

const short = (hash: string): string => hash.slice(0, 'sha256:'.length + 12)
const named = (ids: readonly string[]): string =>
  ids.length <= mostNamed ? ids.join(', ') : `${ids.slice(0, mostNamed).join(', ')} and ${ids.length - mostNamed} more`
