/** `/api/sessions/:id/secrets`: the places of secrets in a session, never their values. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { withYields } from '../../lib/yield-loop.ts'
import type { FoundSecret } from '../../model/api/secrets.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { phrase } from '../../model/phrase.ts'
import { listSecrets } from '../../redact/list-secrets.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint } from '../openapi/endpoint.ts'

export function secretRoutes(api: OpenAPIHono, context: ServerContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/secrets',
    summary: 'Find the secrets in a session',
    description: 'Reads the complete log twice. The reply contains kinds and places, never a secret.',
    reply: 'SecretsReply',
    errors: ['session_not_found', 'source_gone'],
    answer: async ({ param }) => {
      const { id, path } = context.session(param('id'))
      const log = await context.app.logOf(id)
      if (!log)
        throw new ApiProblem(
          'source_gone',
          phrase(`The log of ${id} is gone: ${path}.`, `会話 ${id} のログ ${path} がなくなっています。`),
        )
      async function* messages(): AsyncGenerator<NormalizedMessage> {
        if (!log) return
        for await (const batch of withYields(log.agent.read(log.source)))
          for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
      }
      const secrets: FoundSecret[] = []
      for await (const one of listSecrets(messages)) secrets.push(one)
      return { data: { secrets }, meta: {} }
    },
  })
}
