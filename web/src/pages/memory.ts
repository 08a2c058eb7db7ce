/** The pages of the memory, which share most of their code. */
export { BeliefsPage } from './beliefs/beliefs-page.tsx'
export { RecallPage } from './recall/recall-page.tsx'
