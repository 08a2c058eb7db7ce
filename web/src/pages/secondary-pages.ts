/** The pages that are fetched after the first one, together: many small files would wait for each other. */
export { ConversationsPage } from './conversations/conversations-page.tsx'
export { EvaluationPage } from './evaluation/evaluation-page.tsx'
export { JournalPage } from './journal.tsx'
export { PeoplePage } from './people/people-page.tsx'
export { ReviewPage } from './review.tsx'
export { StatusPage } from './status.tsx'
