/** Messages of JSON-RPC 2.0, as the Model Context Protocol uses them. */
import { fieldsOf, stringOf } from '../../lib/unknown-values.ts'

export type RequestId = string | number

export type Incoming =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  /** The answer to a request of ours. We make none. */
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id: RequestId | null }

export type Outgoing = { readonly jsonrpc: '2.0' } & (
  | { readonly id: RequestId; readonly result: object }
  | { readonly id: RequestId | null; readonly error: { readonly code: number; readonly message: string } }
  | { readonly method: string; readonly params: object }
)

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
/** Of the Model Context Protocol. */
export const RESOURCE_NOT_FOUND = -32002

/** An error that the protocol has a code for. */
export class ProtocolError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export function parseMessage(value: unknown): Incoming {
  const fields = fieldsOf(value)
  const id = fields?.['id']
  const known = typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : null
  if (fields?.['jsonrpc'] !== '2.0') return { kind: 'invalid', id: known }
  const method = stringOf(fields['method'])
  if (method === undefined)
    return known !== null && ('result' in fields || 'error' in fields)
      ? { kind: 'response' }
      : { kind: 'invalid', id: known }
  const { params } = fields
  if (params !== undefined && typeof params !== 'object') return { kind: 'invalid', id: known }
  if (!('id' in fields)) return { kind: 'notification', method, params }
  return known === null ? { kind: 'invalid', id: null } : { kind: 'request', id: known, method, params }
}

export const resultMessage = (id: RequestId, result: object): Outgoing => ({ jsonrpc: '2.0', id, result })

export const errorMessage = (id: RequestId | null, code: number, message: string): Outgoing => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
