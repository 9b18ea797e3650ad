/** Values as lines of JSON, sent as they come. Nothing is made that nobody reads. */
import { warn } from '../../lib/log.ts'
import type { SearchLine } from '../../model/api/search.ts'
import { SEE_LOG } from '../problem.ts'

/** @param signal the client has gone away */
export function jsonLinesResponse(values: AsyncGenerator<object>, signal: AbortSignal): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await values.next()
        if (done || signal.aborted) {
          await values.return(undefined)
          controller.close()
        } else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
      } catch (error) {
        warn(String(error))
        controller.enqueue(encoder.encode(`${JSON.stringify(FAILED_LINE)}\n`))
        controller.close()
      }
    },
    async cancel() {
      await values.return(undefined)
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson; charset=utf-8' } })
}

const FAILED_LINE: SearchLine = { kind: 'error', detail: SEE_LOG.en, detail_ja: SEE_LOG.ja }
