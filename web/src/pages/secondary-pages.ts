/** The pages that are usually loaded after the first one, in one chunk that loads faster than many small ones. */
export { ConversationsPage } from './conversations/conversations-page.tsx'
export { EvaluationPage } from './evaluation/evaluation-page.tsx'
export { JournalPage } from './journal.tsx'
export { PeoplePage } from './people/people-page.tsx'
export { ReviewPage } from './review.tsx'
export { StatusPage } from './status.tsx'
