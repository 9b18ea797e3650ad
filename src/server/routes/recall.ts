/** `/api/recall`: the page "Ask the archive". */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { askOnce } from '../../chat/ask-once.ts'
import { resolveEndpoint } from '../../chat/open/open-chat.ts'
import { MemoryArchive } from '../../memory/archive.ts'
import { INSTRUCTION, type Recalled, recallPassages, renderForModel, unknownCitations } from '../../memory/passages.ts'
import { ToolProblem } from '../../memory/tool-problem.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, textParameter } from '../openapi/endpoint.ts'

const MAX_QUESTION = 4000

export function recallRoutes(api: OpenAPIHono, { app }: ServerContext): void {
  const archive = new MemoryArchive(app)
  addEndpoint(api, {
    method: 'get',
    path: '/api/recall',
    summary: 'Find passages that answer a question',
    description: 'The best first, redacted and cited. Sessions that the owner excludes (memory.skip) are left out.',
    query: z.object({
      q: z.string().min(1).max(MAX_QUESTION).openapi({ description: 'A question, words or an error text.' }),
      project: textParameter('Only this directory and those below it, or directories of this name.'),
      agent: textParameter('Only this agent.'),
      since: textParameter('On or after: 2026-11-15, 2026-11, today, 7d.'),
    }),
    reply: 'RecallReply',
    answer: async ({ query: { q, project, agent, since } }) => {
      const { passages, meta } = await recall(archive, q, { project, agent, since })
      return { data: passages, meta }
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/recall/answer',
    summary: 'Let a model answer a question from the passages',
    description:
      'Sends the passages of GET /api/recall, and nothing else, to the server of the profile. Nothing is recorded. Citations that no passage has are listed.',
    body: z.strictObject({
      q: z.string().min(1).max(MAX_QUESTION),
      project: z.string().max(4096).optional(),
      profile: z.string().max(200).optional(),
    }),
    reply: 'RecallAnswerReply',
    errors: ['not_possible'],
    answer: async ({ body: { q, project, profile }, signal }) => {
      const { environment } = app
      const endpoint = resolveEndpoint(profile === undefined ? {} : { profile }, {
        environment,
        config: await app.config(),
      })
      const { passages } = await recall(archive, q, { project })
      if (passages.length === 0)
        throw new ApiProblem(
          'not_possible',
          phrase('There are no passages to answer from.', '回答のもとになる抜粋がありません。'),
        )
      const asked = { instruction: INSTRUCTION, prompt: renderForModel(q, passages) }
      const { text, model } = await askOnce(endpoint, asked, signal)
      return { data: { text, model, passages, unknown_citations: unknownCitations(text, passages) }, meta: {} }
    },
  })
}

async function recall(...asked: Parameters<typeof recallPassages>): Promise<Recalled> {
  try {
    return await recallPassages(...asked)
  } catch (error) {
    if (error instanceof ToolProblem) throw new ApiProblem('invalid_parameters', phrase(error.message, error.message))
    throw error
  }
}
