import type { Settings } from '../config.ts'
import type { Memory } from '../memory/memory.ts'

/** The settings as options for opening a memory or its store. */
export const openingOptions = ({ semanticModel, agentShare, ...settings }: Settings) => ({
  semantic: settings.semantic,
  ...(semanticModel === null ? {} : { semanticModel }),
  agentShare: agentShare / 100,
  recallBoldness: settings.recallBoldness,
  evalStoreDir: settings.evalStoreDir,
  mirrorAuthority: settings.mirrorAuthority,
})

export const recordsShadows = ({ evalHarnessEnabled, evalShadowModeEnabled }: Settings): boolean =>
  evalHarnessEnabled && evalShadowModeEnabled

/** Records every recall of a memory in an eval store. A recall does not fail because its record is lost. */
export async function shadowRecorder(
  root: string,
  onProblem: (line: string) => void,
): Promise<(memory: Memory) => Memory> {
  const { withShadow } = await import('../eval/shadow/shadow.ts')
  const options = {
    root,
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: (error: unknown) => onProblem(`No shadow record was stored: ${String(error)}`),
  }
  return (memory) => withShadow(memory, options)
}
