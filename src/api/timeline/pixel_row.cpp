#include "api/timeline/pixel_row.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace dyetrace::api {
namespace {

constexpr double kNothing = 1e-6;  // what steps leave of each other

// Heights that nobody tells apart are made equal, so that neighbours become one run.
constexpr int kSteps = 32;
constexpr int kSeen = 8;  // of work, however little it is of a pixel that is a minute
std::uint8_t in_steps(double height, int least) {
    const int step = static_cast<int>(std::lround(std::clamp(height, 0.0, 1.0) * kSteps));
    return static_cast<std::uint8_t>(std::max(step, least) * 255 / kSteps);
}

bool looks_like(const TimelineRun& a, const TimelineRun& b) {
    return a.x1 == b.x0 && a.colour == b.colour && a.fill == b.fill && a.work == b.work &&
           a.ran == b.ran && a.flags == b.flags && (a.flags & TimelineRun::kSingle) == 0;
}

}  // namespace

std::uint8_t event_flags(const LaneEvent& event) {
    return static_cast<std::uint8_t>((event.is_error() ? TimelineRun::kError : 0) |
                                     (event.is_unfinished() ? TimelineRun::kUnfinished : 0) |
                                     (event.is_work() ? TimelineRun::kWork : 0));
}

PixelRow::PixelRow(const TimeWindow& window, TimelineColour colouring, std::uint32_t threads)
    : window_(window),
      per_ns_(window.pixels_per_ns()),
      pixel_ns_((window.to_ns - window.from_ns) / window.width + 1),
      colouring_(colouring),
      threads_(threads),
      pixels_(window.width) {}

// Without the window's division: this is asked for each sum and event that is looked at.
double PixelRow::position(std::uint64_t time_ns) const {
    const double since_from_ns = time_ns >= window_.from_ns
                                     ? static_cast<double>(time_ns - window_.from_ns)
                                     : -static_cast<double>(window_.from_ns - time_ns);
    return since_from_ns * per_ns_;
}

std::uint32_t PixelRow::common_pixel(std::uint64_t begin_ns, std::uint64_t end_ns) const {
    if (end_ns - begin_ns > pixel_ns_ || begin_ns < window_.from_ns || end_ns >= window_.to_ns) {
        return kNone;
    }
    const auto first = static_cast<std::uint32_t>(position(begin_ns));
    const auto last = static_cast<std::uint32_t>(position(end_ns));
    return first == last && first < window_.width ? first : kNone;
}

void PixelRow::add(const LaneEvent& event) {
    const double begin = position(event.begin_ns());
    const double end = position(event.end_ns());
    if (!is_group() && end - begin >= 1) {
        slices_.push_back(run_of(event));
        return;
    }
    const auto x = std::min(static_cast<std::uint32_t>(std::max(begin, 0.0)), window_.width - 1);
    Pixel& pixel = pixels_[x];
    pixel.event = pixel.count == 0 && !is_group() ? &event : nullptr;
    ++pixel.count;
    pixel.flags |= event_flags(event);
    // What takes no time has a colour, too.
    pixel.weights[event.colour(colouring_)] +=
        static_cast<float>(per_ns_ * event.weight(colouring_));
    spread(begin, end, event);
}

void PixelRow::spread(double x0, double x1, const LaneEvent& event) {
    const double begin = std::max(x0, 0.0), end = std::min(x1, static_cast<double>(window_.width));
    if (begin >= end) {
        return;
    }
    const double work = event.is_work() ? 1 : 0, ran = work * (1 - event.waited());
    const double weight = event.weight(colouring_);
    const std::uint8_t colour = event.colour(colouring_);
    const auto cover = [&](std::uint32_t x, double share) {
        Pixel& pixel = pixels_[x];
        pixel.busy += share;
        pixel.work += share * work;
        pixel.ran += share * ran;
        pixel.flags |= event.is_work() ? std::uint8_t{TimelineRun::kWork} : std::uint8_t{0};
        pixel.weights[colour] += static_cast<float>(share * weight);
    };
    const auto first = static_cast<std::uint32_t>(begin);
    const auto last = std::min(static_cast<std::uint32_t>(end), window_.width - 1);
    if (first == last) {
        return cover(first, end - begin);
    }
    cover(first, first + 1 - begin);
    cover(last, end - last);
    if (last - first == 1) {
        return;
    }
    steps_.resize(window_.width);
    const auto step = [&](std::uint32_t x, double sign) {
        steps_[x].busy += sign;
        steps_[x].work += sign * work;
        steps_[x].ran += sign * ran;
        steps_[x].weights[colour] += sign * weight;
    };
    step(first + 1, 1);
    step(last, -1);
}

// Cut a pixel outside the window, so that its ends are not seen.
TimelineRun PixelRow::run_of(const LaneEvent& event) const {
    const double x0 = position(event.begin_ns()), x1 = position(event.end_ns());
    return {.x0 = static_cast<float>(std::max(x0, -1.0)),
            .x1 = static_cast<float>(std::min(x1, window_.width + 1.0)),
            .count = 1,
            .colour = event.colour(colouring_),
            .fill = 255,
            .work = 255,
            .ran = in_steps(1 - event.waited(), 0),
            .flags = static_cast<std::uint8_t>(event_flags(event) | TimelineRun::kSingle),
            .name = event.name(),
            .event = event.id()};
}

void PixelRow::add(std::uint32_t x, const EventSum& sum) {
    Pixel& pixel = pixels_[x];
    const double per_ns = per_ns_;
    pixel.event = nullptr;
    pixel.count += sum.count;
    pixel.flags |= sum.flags;
    pixel.busy += sum.busy_ns * per_ns;
    pixel.work += sum.work_ns * per_ns;
    pixel.ran += sum.ran_ns * per_ns;
    const bool is_work = (sum.flags & TimelineRun::kWork) != 0;
    const std::uint8_t colour = sum.colours[static_cast<std::size_t>(colouring_)];
    const double time = static_cast<double>(is_work ? sum.work_ns : sum.busy_ns) + sum.count;
    pixel.weights[colour] +=
        static_cast<float>(time * per_ns * colour_weight(colouring_, colour, is_work));
}

void PixelRow::add(double x0, double x1, const EventSum& sum) {
    const double width = x1 - x0;
    const auto first = static_cast<std::uint32_t>(std::max(x0, 0.0));
    bool is_first = true;
    for (std::uint32_t x = first; x < window_.width && x < x1; ++x, is_first = false) {
        const double share = (std::min(x1, x + 1.0) - std::max(x0, static_cast<double>(x))) / width;
        EventSum part = sum;
        part.count = is_first ? sum.count : 0;
        part.busy_ns = static_cast<float>(sum.busy_ns * share);
        part.work_ns = static_cast<float>(sum.work_ns * share);
        part.ran_ns = static_cast<float>(sum.ran_ns * share);
        add(x, part);
    }
}

void PixelRow::sum_steps() {
    Step sum;
    for (std::uint32_t x = 0; x < steps_.size(); ++x) {
        const Step& step = steps_[x];
        sum.busy += step.busy;
        sum.work += step.work;
        sum.ran += step.ran;
        pixels_[x].busy += sum.busy;
        pixels_[x].work += sum.work;
        pixels_[x].ran += sum.ran;
        pixels_[x].flags |=
            sum.work > kNothing ? std::uint8_t{TimelineRun::kWork} : std::uint8_t{0};
        for (std::size_t colour = 0; colour < kTimelineColours; ++colour) {
            sum.weights[colour] += step.weights[colour];
            pixels_[x].weights[colour] += static_cast<float>(std::max(sum.weights[colour], 0.0));
        }
    }
    steps_.clear();
}

std::uint8_t PixelRow::height_of(double busy, int least) const {
    const double some = std::max(busy, 0.0);
    return in_steps(is_group() ? std::log2(1 + some) / std::log2(1.0 + threads_) : some, least);
}

TimelineRun PixelRow::run_of(std::uint32_t x) const {
    const Pixel& pixel = pixels_[x];
    if (pixel.event != nullptr) {
        return run_of(*pixel.event);
    }
    const auto* const most = std::max_element(std::begin(pixel.weights), std::end(pixel.weights));
    return {.x0 = static_cast<float>(x),
            .x1 = static_cast<float>(x + 1),
            .count = pixel.count,
            .colour = static_cast<std::uint8_t>(most - std::begin(pixel.weights)),
            .fill = height_of(pixel.busy, (pixel.flags & TimelineRun::kWork) != 0 ? kSeen : 1),
            .work = height_of(pixel.work, (pixel.flags & TimelineRun::kWork) != 0 ? kSeen : 0),
            .ran = height_of(pixel.ran, 0),
            .flags = pixel.flags};
}

std::vector<TimelineRun> PixelRow::runs() {
    sum_steps();
    std::vector<TimelineRun> summed;
    for (std::uint32_t x = 0; x < pixels_.size(); ++x) {
        // The end of what began in the pixel before is drawn there.
        const bool is_tail = pixels_[x].count == 0 && x > 0 && pixels_[x - 1].event != nullptr;
        if ((pixels_[x].count == 0 && pixels_[x].busy < kNothing) || is_tail) {
            continue;
        }
        const TimelineRun run = run_of(x);
        if (!summed.empty() && looks_like(summed.back(), run)) {
            summed.back().x1 = run.x1;
            summed.back().count += run.count;
        } else {
            summed.push_back(run);
        }
    }
    std::vector<TimelineRun> all;
    all.reserve(summed.size() + slices_.size());
    std::merge(summed.begin(),
               summed.end(),
               slices_.begin(),
               slices_.end(),
               std::back_inserter(all),
               [](const TimelineRun& a, const TimelineRun& b) { return a.x0 < b.x0; });
    return all;
}

}  // namespace dyetrace::api
