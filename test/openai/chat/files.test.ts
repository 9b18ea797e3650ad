/** Uploaded files, and the specification's example of a message with one. */
import { describe, expect, test } from 'vitest'
import { OpenAIMessage } from '../../../src/openai.ts'
import { DIALECTS, type Dialect, replyIn } from '../../support/dialects.ts'
import { json, raw } from '../../support/model-server.ts'
import { historyText, startChat } from './test-chat.ts'

const openai = DIALECTS[0] as Dialect
const described = {
  id: 'file-abc123',
  object: 'file',
  bytes: 8,
  created_at: 1,
  filename: 'document.pdf',
  purpose: 'user_data',
}
const pdf = (): File => new File(['%PDF-1.7'], 'document.pdf', { type: 'application/pdf' })

test('003: adding a file', async () => {
  const { chat, server } = await startChat([json(described), replyIn(openai, { text: 'It is empty.' })])
  const uploadResult = await chat.files.create(pdf(), 'user_data')
  if (!uploadResult.success) throw new Error(uploadResult.errors[0].message)
  const uploadedFile = uploadResult.file

  const message = new OpenAIMessage({ role: 'user', content: 'Please analyze this document:' })
  message.addFileId(uploadedFile.id)
  await chat.prompt(message)

  const [upload, question] = server.asked
  expect([upload?.method, upload?.path, upload?.headers['content-type']]).toEqual([
    'POST',
    '/v1/files',
    expect.stringMatching(/^multipart\/form-data; boundary=/),
  ])
  const form = upload?.bytes.toString() ?? ''
  expect(form).toMatch(/name="purpose"\r\n\r\nuser_data\r\n/)
  expect(form).toMatch(/name="file"; filename="document\.pdf"\r\nContent-Type: application\/pdf\r\n\r\n%PDF-1\.7\r\n/)
  expect(question?.body.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Please analyze this document:' },
        { type: 'file', file: { file_id: 'file-abc123' } },
      ],
    },
  ])
  expect(historyText(chat)).toBe('user Please analyze this document: / assistant It is empty.')
})

describe('files', () => {
  test('are named, expire, are found again, listed and deleted', async () => {
    const page = { object: 'list', data: [described], has_more: true }
    const gone = { id: 'file-abc123', object: 'file', deleted: true }
    const { chat, server } = await startChat([json(described), json(described), json(page), json(gone)])
    const created = await chat.files.create(new Blob(['x']), 'user_data', {
      filename: 'notes.txt',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    })
    expect(created).toEqual({ success: true, file: described, errors: [] })
    expect(await chat.files.retrieve('file-abc123')).toEqual({ success: true, file: described, errors: [] })
    expect(await chat.files.list({ purpose: 'user_data', limit: 1 })).toEqual({
      success: true,
      files: [described],
      hasMore: true,
      errors: [],
    })
    expect(await chat.files.delete('file-abc123')).toEqual({
      success: true,
      id: 'file-abc123',
      deleted: true,
      errors: [],
    })
    expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/files',
      'GET /v1/files/file-abc123',
      'GET /v1/files?purpose=user_data&limit=1',
      'DELETE /v1/files/file-abc123',
    ])
    const form = server.asked[0]?.bytes.toString()
    expect(form).toContain('filename="notes.txt"')
    expect(form).toMatch(/name="expires_after\[seconds\]"\r\n\r\n3600\r\n/)
  })

  test('are retried, and fail with a value', async () => {
    const { chat, waits } = await startChat([
      json({}, 503),
      json(described),
      json({ error: { message: 'no such file' } }, 404),
    ])
    expect((await chat.files.create(pdf(), 'user_data')).success).toBe(true)
    expect(waits).toEqual([500])
    expect(await chat.files.retrieve('file-x')).toMatchObject({
      success: false,
      errors: [{ status: 404, message: 'no such file' }],
    })
  })

  test('of a server without file support', async () => {
    const { chat } = await startChat([raw('<html>', 'text/html'), json({}), json([])])
    for (const result of [await chat.files.retrieve('a'), await chat.files.retrieve('a'), await chat.files.list()]) {
      expect(result).toMatchObject({ success: false, errors: [{ kind: 'garbage' }] })
    }
  })

  test('are not awaited once aborted', async () => {
    const { chat } = await startChat([json(described)])
    const result = await chat.files.create(pdf(), 'user_data', { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ success: false, errors: [{ kind: 'aborted' }] })
  })

  test('require valid arguments for an upload', async () => {
    const { chat, server } = await startChat([])
    await expect(chat.files.create(pdf(), '')).rejects.toThrow(/Set purpose/)
    await expect(chat.files.create(new Blob(['x']), 'user_data')).rejects.toThrow(/filename/)
    await expect(chat.files.create('x' as unknown as Blob, 'user_data')).rejects.toThrow(/File or a Blob/)
    const expires_after = { anchor: 'created_at', seconds: 60 } as const
    await expect(chat.files.create(pdf(), 'user_data', { expires_after })).rejects.toThrow(/3600 to 2592000/)
    await expect(chat.files.retrieve('')).rejects.toThrow(/id of a file/)
    await expect(chat.files.delete('')).rejects.toThrow(/id of a file/)
    expect(server.asked.length).toBe(0)
  })
})
