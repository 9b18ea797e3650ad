/** Text of hostile logs is displayed only as text. */
import { expect, test } from 'vitest'
import { HTML_ATTACKS } from '../hostile/html-attacks.ts'
import { assistant, header, text, user } from '../support/codex-log.ts'
import { rollout } from '../support/test-home.ts'
import { idOf, type Reply, serve } from './test-server.ts'

const TAG = /<\/?([a-z][\w-]*)([^>]*)>/gi
const ALLOWED = new Set(['p', 'pre', 'code', 'strong', 'em', 'ul', 'ol', 'li', 'a'])

test('every attack is reduced to the nine tags, in html and in the specified message', async () => {
  const attacks = HTML_ATTACKS.map(({ input }) => input)
  expect(attacks.length).toBeGreaterThan(50)
  const served = serve({
    [rollout('bad')]: text([header(), ...attacks.map((one, at) => (at % 2 ? user : assistant)(at + 1, one))]),
  })
  await served.app.sync()
  const { data } = await served.get<Reply>('/api/sessions')
  const messages = `/api/sessions/${idOf(data[0].id)}/messages?limit=500`
  const shown = (await served.get<Reply>(messages)).data.flatMap((one: Reply) =>
    one.segments.map((segment: Reply) => segment.html),
  )
  const character = (await served.get<Reply>(`${messages}&variant=sanitized`)).data.flatMap((one: Reply) =>
    one.segments.map((segment: Reply) => segment.text),
  )
  expect(shown.length).toBe(attacks.length)
  for (const html of [...shown, ...character] as string[])
    for (const [, tag = '', attributes = ''] of html.matchAll(TAG)) {
      expect(ALLOWED).toContain(tag.toLowerCase())
      expect(attributes).toMatch(/^(?: href="(?:https?:\/\/|mailto:)[^"]*"| rel="[^"]*")*$/i)
    }
  await served.close()
})
