/** Lines of an invented Codex log, half a second apart. */

/** @param {number} begin milliseconds */
export function linesFrom(begin) {
  const at = (n) => new Date(begin + n * 500).toISOString()
  const line = (n, type, payload) => JSON.stringify({ timestamp: at(n), type, payload })
  const item = (n, payload) => line(n, 'response_item', payload)
  return {
    header: (fields) =>
      line(0, 'session_meta', { timestamp: at(0), originator: 'codex_cli_rs', cli_version: '0.146.0', ...fields }),
    said: (n, role, text) =>
      item(n, {
        type: 'message',
        role,
        content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
      }),
    call: (n, call_id, command) =>
      item(n, { type: 'function_call', name: 'shell', arguments: JSON.stringify({ command }), call_id }),
    result: (n, call_id, output) => item(n, { type: 'function_call_output', call_id, output }),
  }
}
