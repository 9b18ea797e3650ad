/** A call that cannot be answered as it was made. The message says what to change; it contains no text of logs. */
export class ToolProblem extends Error {}
