/** The pages Beliefs and Recall, in one chunk because they share most of their code. */
export { BeliefsPage } from './beliefs/beliefs-page.tsx'
export { RecallPage } from './recall/recall-page.tsx'
