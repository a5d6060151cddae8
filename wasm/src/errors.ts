// The one error that this package throws.

/** The same words stand in C++, REST and JavaScript. */
export type ErrorCode =
  /** An argument has the wrong type, or text cannot be parsed at all. */
  | 'bad_request'
  /** A setting is out of its range, or two settings exclude each other. */
  | 'bad_config'
  /** A vector has the wrong length. */
  | 'bad_shape'
  /** A component is NaN or infinite. */
  | 'not_finite'
  /** A key or a query has no direction. */
  | 'zero_norm'
  /** A memory file is damaged, cut, or not a memory file. */
  | 'bad_snapshot'
  /** The item comes from another encoder than the memory's. */
  | 'encoder_mismatch'
  /** No slot has this id. */
  | 'not_found'
  /** An event does not follow this state; a stored memory was changed by somebody else. */
  | 'conflict'
  /** There is no room left: memory, storage, or slot ids. */
  | 'full'
  /** The cache or encoder was disposed. */
  | 'disposed'
  /** The WebAssembly, a worker, a storage or a server cannot be had; or a server has no such thing. */
  | 'unavailable'
  // Of `dpcache/remote` alone:
  /** The server has not answered in time: whether it has done what was asked is not known. */
  | 'timeout'
  /** The server wants a token. */
  | 'unauthorized'
  /** The token, or the page's origin, is not for that. */
  | 'forbidden'
  /** There is such a cache already, or its config has changed meanwhile. */
  | 'precondition_failed'
  /** A batch or a body is larger than the server takes. */
  | 'too_large'
  /** The server has too much to do, or the token too many requests; it was tried several times. */
  | 'busy'
  /** An idempotency key was used for something else before. */
  | 'idempotency_mismatch'
  /** The server understands less than this package, or has failed. */
  | 'method_not_allowed'
  | 'unsupported'
  | 'expectation_failed'
  | 'headers_too_large'
  | 'internal';

export interface DpcacheErrorOptions extends ErrorOptions {
  /** Of the HTTP response that said so. */
  status?: number;
}

/** What is wrong with one item: where it stands in a batch, and a JSON Pointer to the bad field. */
export interface ItemError {
  index: number;
  code: ErrorCode;
  /** RFC 6901, inside the item or the config, e.g. `/key/3`; empty for the whole of it. */
  pointer: string;
  /** A sentence for people. */
  detail: string;
}

export class DpcacheError extends Error {
  override readonly name = 'DpcacheError';
  /** Of the first of `errors`. */
  readonly code: ErrorCode;
  /** Every bad item; one entry where there is no batch. */
  readonly errors: readonly ItemError[];
  /** The HTTP status, if a server has said so. */
  readonly status: number | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    errors?: readonly ItemError[],
    options?: DpcacheErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.status = options?.status;
    this.errors = errors ?? [{ index: 0, code, pointer: '', detail }];
  }

  /** Of one or several items; `errors` must not be empty. */
  static of(errors: readonly ItemError[], options?: DpcacheErrorOptions): DpcacheError {
    const first = errors[0] ?? { index: 0, code: 'bad_request', pointer: '', detail: '' };
    const where = first.pointer && ` (${first.pointer})`;
    const more = errors.length > 1 ? `, and ${errors.length - 1} more items` : '';
    return new DpcacheError(first.code, `${first.detail}${where}${more}`, errors, options);
  }

  /** What was thrown, as our error; also that of another copy of this package. */
  static from(thrown: unknown): DpcacheError {
    if (thrown instanceof DpcacheError) return thrown;
    if (thrown instanceof Error && thrown.name === 'DpcacheError' && 'code' in thrown) {
      const { code, errors, message } = thrown as DpcacheError;
      return new DpcacheError(code, message.slice(code.length + 2), errors, { cause: thrown });
    }
    return new DpcacheError('unavailable', String(thrown), undefined, { cause: thrown });
  }

  /** About one field. */
  static at(pointer: string, detail: string, code: ErrorCode = 'bad_request'): DpcacheError {
    return DpcacheError.of([{ index: 0, code, pointer, detail }]);
  }
}
