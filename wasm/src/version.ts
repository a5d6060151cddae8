// The version of the package, which is that of the library.
export const version = '0.1.0';
