; inherits: typescript
; TSX has the definitions of TypeScript.
