; hint: \b(?:fn|struct|enum|trait|impl|mod|macro_rules)\b
; comments: //
; Definitions of Rust: items at any depth, members of impl blocks and traits under their type.

(function_item name: (_) @name body: (block) @inner) @function
(function_signature_item name: (_) @name) @function @declaration
(struct_item name: (_) @name body: (_) @body) @struct
(struct_item name: (_) @name) @struct
(union_item name: (_) @name body: (_) @body) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(enum_variant name: (_) @name body: (field_declaration_list) @body) @enummember
(enum_variant name: (_) @name) @enummember
(field_declaration name: (_) @name) @field
(trait_item name: (_) @name body: (_) @body) @interface
(impl_item type: (_) @container body: (_) @body) @scope
(mod_item name: (_) @name body: (_) @body) @module
(mod_item name: (_) @name) @module
(type_item name: (_) @name) @class
(associated_type name: (_) @name) @class
(const_item name: (identifier) @name) @constant
(static_item name: (_) @name) @variable
(macro_definition name: (_) @name) @function @global
(foreign_mod_item body: (_) @body)
(closure_expression body: (_) @body) @scope
