/** Combines lists of postings. */
import { MAX_FREQUENCY, PostingList } from '../segments/postings.ts'

/** Documents of any of the lists. @param documents of the segment */
export function addUp(documents: number, lists: readonly PostingList[]): PostingList {
  const found = lists.filter(({ count }) => count > 0)
  const [first, second] = found
  if (!first || !second) return first ?? new PostingList()
  const sums = new Uint8Array(documents)
  for (const list of found)
    for (let at = 0; at < list.count; at++) {
      const document = list.documents[at] ?? 0
      sums[document] = Math.min(MAX_FREQUENCY, (sums[document] ?? 0) + (list.frequencies[at] ?? 1))
    }
  const all = new PostingList()
  for (const [document, frequency] of sums.entries()) if (frequency > 0) all.add(document, frequency)
  return all
}

/** Documents of both lists, with the lower frequency. */
export function inBoth(a: PostingList, b: PostingList): PostingList {
  const both = new PostingList()
  for (let at = 0, other = 0; at < a.count && other < b.count; ) {
    const left = a.documents[at] ?? 0
    const right = b.documents[other] ?? 0
    if (left === right) both.add(left, Math.min(a.frequencies[at] ?? 1, b.frequencies[other] ?? 1))
    if (left <= right) at++
    if (right <= left) other++
  }
  return both
}
