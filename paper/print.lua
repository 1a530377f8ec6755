-- Keeps the colours of verdicts in print, and drops links that lead nowhere on paper.
local colours = { reproduced = "reproduced", partly = "partly", ["not"] = "notreproduced", open = "open" }

function Span(span)
  for _, class in ipairs(span.classes) do
    if colours[class] then
      return { pandoc.RawInline("latex", "\\textcolor{" .. colours[class] .. "}{\\textbf{"), span,
        pandoc.RawInline("latex", "}}") }
    end
  end
end

function Link(link)
  if link.target:sub(1, 1) ~= "#" and not link.target:match("^https?:") then
    return link.content
  end
end
