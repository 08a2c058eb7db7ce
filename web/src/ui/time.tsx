import { ago, moment } from '../format/time.ts'

/** How long ago; the exact moment on hover and for programs. */
export const Time = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={moment(at)}>
    {ago(at)}
  </time>
)
