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
  /** The WebAssembly, a worker or a storage cannot be had here. */
  | 'unavailable';

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

  constructor(code: ErrorCode, detail: string, errors?: readonly ItemError[], options?: ErrorOptions) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.errors = errors ?? [{ index: 0, code, pointer: '', detail }];
  }

  /** Of one or several items; `errors` must not be empty. */
  static of(errors: readonly ItemError[], options?: ErrorOptions): DpcacheError {
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
